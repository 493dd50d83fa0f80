/* SPDX-License-Identifier: BSD-2-Clause */
/* flame.c - flame graphs as SVG; see flame.h. */
#include <inttypes.h>
#include <string.h>
#include <tools/tarn/analysis/flame.h>

#define WIDTH     1200.0 /* lengths are pixels of the picture at its original size */
#define MARGIN    10.0
#define HEAD      46.0
#define FOOT      26.0
#define ROW       17.0
#define CHARACTER 6.6 /* width of one in the font */
#define LEAST     0.2 /* narrower boxes are left out */
#define DEPTH_MAX 256u

struct flame {
    FILE *to;
    enum weight weight;
    uint64_t whole;
    double scale; /* pixels per unit of weight */
    unsigned depth;
};

/* Writes text from the trace; bytes that are invalid in XML become question marks. */
static void put_text(FILE *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length && text[i] != '\0'; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '<')
            fputs("&lt;", to);
        else if (c == '>')
            fputs("&gt;", to);
        else if (c == '&')
            fputs("&amp;", to);
        else if (c == '"')
            fputs("&quot;", to);
        else
            fputc(c < 0x20 || c >= 0x7f ? '?' : c, to);
    }
}

/* Finds the deepest level that is wide enough to be drawn. */
static void measure(struct flame *flame, const struct call_node *node, unsigned depth)
{
    if (depth > flame->depth)
        flame->depth = depth;
    for (const struct call_node *child = node->first; child != NULL && depth < DEPTH_MAX; child = child->next)
        if ((double)sums_weight(&child->total, flame->weight) * flame->scale >= LEAST)
            measure(flame, child, depth + 1);
}

/* A function has the same colour everywhere: warm for programs, cold for the kernel. */
static void put_colour(FILE *to, const struct call_function *function)
{
    uint32_t hash = 2166136261u;

    if (function == NULL) {
        fputs("hsl(0,0%,72%)", to);
        return;
    }
    for (const char *at = function->name; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    fprintf(to, "hsl(%u,%u%%,%u%%)", (function->is_kernel ? 190 : 12) + hash % 38, 58 + hash / 64 % 20,
            64 + hash / 4096 % 10);
}

static void put_amount(const struct flame *flame, uint64_t amount)
{
    double part = flame->whole ? 100.0 * (double)amount / (double)flame->whole : 0;

    if (flame->weight == WEIGHT_TIME)
        fprintf(flame->to, "%.3f ms, %.2f %%", (double)amount / 1e6, part);
    else
        fprintf(flame->to, "%" PRIu64 " %s, %.2f %%", amount,
                flame->weight == WEIGHT_SAMPLES ? "samples" : "instructions", part);
}

static void put_box(struct flame *flame, const struct call_node *node, double x, double width, unsigned depth)
{
    const char *name = node->function != NULL ? node->function->name : "all";
    size_t fits = width > 3 * CHARACTER ? (size_t)((width - 6) / CHARACTER) : 0, length = strlen(name);
    double y = HEAD + ROW * (double)(flame->depth - depth);

    fprintf(flame->to, "<g class=\"f\" data-d=\"%u\" data-w=\"%.12f\" data-x=\"%.12f\"><title>", depth,
            (double)sums_weight(&node->total, flame->weight) / (double)flame->whole,
            (x - MARGIN) / (WIDTH - 2 * MARGIN));
    put_text(flame->to, name, length);
    if (node->function != NULL && node->function->executable[0] != '\0') {
        fputs(" (", flame->to);
        put_text(flame->to, node->function->executable, SIZE_MAX);
        fputc(')', flame->to);
    }
    fputs(": ", flame->to);
    put_amount(flame, sums_weight(&node->total, flame->weight));
    fprintf(flame->to,
            "</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" rx=\"1.5\" fill=\"", x, y,
            width, ROW - 1);
    put_colour(flame->to, node->function);
    fprintf(flame->to, "\"/><text x=\"%.2f\" y=\"%.1f\" data-n=\"", x + 3, y + 12);
    put_text(flame->to, name, length);
    fputs("\">", flame->to);
    put_text(flame->to, name, fits >= length ? length : fits > 2 ? fits - 2 : 0);
    fputs(fits >= length || fits <= 2 ? "</text></g>\n" : "..</text></g>\n", flame->to);
}

static void put_node(struct flame *flame, const struct call_node *node, double x, unsigned depth)
{
    double width = (double)sums_weight(&node->total, flame->weight) * flame->scale;

    put_box(flame, node, x, width, depth);
    for (const struct call_node *child = node->first; child != NULL; child = child->next) {
        double wide = (double)sums_weight(&child->total, flame->weight) * flame->scale;

        if (wide >= LEAST && depth < DEPTH_MAX)
            put_node(flame, child, x, depth + 1);
        x += wide;
    }
}

static const char style[] =
    "<style>\n"
    "svg{background:#fdfdfb;font:11px Verdana,DejaVu Sans,sans-serif}\n"
    "text{fill:#111;pointer-events:none}.h{font-size:16px;text-anchor:middle}.n,.b{fill:#444}\n"
    ".b{pointer-events:all;cursor:pointer;text-decoration:underline}\n"
    ".f{cursor:pointer}.f:hover rect{stroke:#000;stroke-width:1}.m rect{fill:#c03ad6}.p{opacity:.5}\n"
    "@media (prefers-color-scheme:dark){svg{background:#16181c}.h{fill:#eee}.n,.b{fill:#bbb}\n"
    ".f:hover rect{stroke:#fff}}\n"
    "</style>\n";

/* Boxes store their share of the whole, from which the script computes all lengths. */
static const char script[] =
    "<script><![CDATA[\n"
    "'use strict';\n"
    "const svg=document.documentElement,boxes=[...document.querySelectorAll('.f')],W=1180,M=10;\n"
    "const info=document.getElementById('i'),found=document.getElementById('m');\n"
    "for(const b of "
    "boxes){b.x=+b.dataset.x;b.w=+b.dataset.w;b.d=+b.dataset.d;b.r=b.children[1];b.t=b.children[2];\n"
    " b.name=b.t.dataset.n}\n"
    "let left=0,part=1,pattern=null;\n"
    "function zoom(box){left=box.x;part=box.w;\n"
    " for(const b of boxes){const under=b.d<box.d&&b.x<=left+1e-9&&b.x+b.w>=left+part-1e-9;\n"
    "  const x=under?0:(b.x-left)/part,w=under?1:b.w/part,inside=x>-1e-9&&x+w<1+1e-6;\n"
    "  b.style.display=inside&&w*W>=.2&&(under||b.d>=box.d)?'':'none';b.classList.toggle('p',under);\n"
    "  b.r.setAttribute('x',M+x*W);b.r.setAttribute('width',w*W);b.t.setAttribute('x',M+3+x*W);\n"
    "  const fits=w*W>20?Math.floor((w*W-6)/6.6):0;\n"
    "  b.t.textContent=fits>=b.name.length?b.name:fits>2?b.name.slice(0,fits-2)+'..':''}}\n"
    "function search(text){pattern=text?new RegExp(text,'i'):null;let sum=0,end=-1;\n"
    " const hits=[];for(const b of boxes){const "
    "hit=!!pattern&&pattern.test(b.name);b.classList.toggle('m',hit);\n"
    "  if(hit)hits.push(b)}\n"
    " hits.sort((a,b)=>a.x-b.x||a.d-b.d);for(const b of hits)if(b.x+b.w/2>end){sum+=b.w;end=b.x+b.w}\n"
    " found.textContent=pattern?'matched: '+(100*sum).toFixed(2)+' %':''}\n"
    "function ask(){const text=prompt('Functions to mark (a regular expression):','');\n"
    " if(text!==null)try{search(text)}catch(e){alert(e.message)}}\n"
    "for(const b of "
    "boxes){b.onclick=()=>zoom(b);b.onmouseenter=()=>info.textContent=b.children[0].textContent;\n"
    " b.onmouseleave=()=>info.textContent=''}\n"
    "document.getElementById('s').onclick=ask;document.getElementById('r').onclick=()=>zoom(boxes[0]);\n"
    "addEventListener('keydown',e=>{if(e.key==='/'||(e.ctrlKey&&e.key==='f')){e.preventDefault();ask()}\n"
    " else if(e.key==='Escape'){zoom(boxes[0]);search('')}});\n"
    "]]></script>\n";

void flame_print(FILE *to, const struct call_tree *tree, enum weight weight, const char *title)
{
    struct flame flame = {.to = to, .weight = weight, .whole = sums_weight(&tree->root.total, weight)};
    double height;

    flame.scale = flame.whole ? (WIDTH - 2 * MARGIN) / (double)flame.whole : 0;
    measure(&flame, &tree->root, 0);
    height = HEAD + ROW * (double)(flame.depth + 1) + FOOT;
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n",
            WIDTH, height, WIDTH, height);
    fputs(style, to);
    fprintf(to, "<text class=\"h\" x=\"%.0f\" y=\"24\">", WIDTH / 2);
    put_text(to, title, SIZE_MAX);
    fprintf(to,
            "</text>\n<text class=\"b\" id=\"r\" x=\"%.0f\" y=\"24\">whole</text>\n"
            "<text class=\"b\" id=\"s\" x=\"%.0f\" y=\"24\" text-anchor=\"end\">search</text>\n"
            "<text class=\"n\" id=\"i\" x=\"%.0f\" y=\"%.0f\"> </text>\n"
            "<text class=\"n\" id=\"m\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\"> </text>\n",
            MARGIN, WIDTH - MARGIN, MARGIN, height - 9, WIDTH - MARGIN, height - 9);
    if (flame.whole > 0)
        put_node(&flame, &tree->root, MARGIN, 0);
    fputs(script, to);
    fputs("</svg>\n", to);
}
