/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flame.c - the function flame(TITLE, UNIT, DEPTH, WEIGHT, NAME, EXECUTABLE, IS_KERNEL) of SQL: a tree of
 * calls as a flame graph (Gregg's), in one SVG file.
 *
 * Its rows are the nodes of the tree: each before those below it, from DEPTH 1 on. The width of a box is its
 * share of the whole; the functions that it calls are above it. The file is self-contained: in a browser, a
 * small script zooms and searches; elsewhere it is a static picture.
 */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/sql/database.h>

#define WIDTH     1200.0 /* lengths are pixels of the picture at its original size */
#define MARGIN    10.0
#define HEAD      46.0
#define FOOT      26.0
#define ROW       17.0
#define CHARACTER 6.6 /* width of one in the font */
#define LEAST     0.2 /* narrower boxes are left out */
#define DEPTH_MAX 256u

struct box {
    const char *name, *executable; /* in the arena */
    bool is_kernel;
    unsigned depth; /* from 1 on; 0: all */
    uint64_t weight;
};

struct flame {
    const char *title, *unit;
    struct box *boxes;
    size_t count, size;
    struct arena arena;
    FILE *to;
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

/* A function has the same colour everywhere: warm for programs, cold for the kernel. */
static void put_colour(FILE *to, const struct box *box)
{
    uint32_t hash = 2166136261u;

    if (box->depth == 0) {
        fputs("hsl(0,0%,72%)", to);
        return;
    }
    for (const char *at = box->name; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    fprintf(to, "hsl(%u,%u%%,%u%%)", (box->is_kernel ? 190 : 12) + hash % 38, 58 + hash / 64 % 20,
            64 + hash / 4096 % 10);
}

static void put_amount(const struct flame *flame, uint64_t amount)
{
    double part = flame->whole ? 100.0 * (double)amount / (double)flame->whole : 0;

    if (strcmp(flame->unit, "time") == 0)
        fprintf(flame->to, "%.3f ms, %.2f %%", (double)amount / 1e6, part);
    else
        fprintf(flame->to, "%" PRIu64 " %s, %.2f %%", amount,
                strcmp(flame->unit, "samples") == 0 ? "samples" : "instructions", part);
}

static void put_box(const struct flame *flame, const struct box *box, double x)
{
    double width = (double)box->weight * flame->scale, y = HEAD + ROW * (double)(flame->depth - box->depth);
    size_t fits = width > 3 * CHARACTER ? (size_t)((width - 6) / CHARACTER) : 0, length = strlen(box->name);

    fprintf(flame->to, "<g class=\"f\" data-d=\"%u\" data-w=\"%.12f\" data-x=\"%.12f\"><title>", box->depth,
            (double)box->weight / (double)flame->whole, (x - MARGIN) / (WIDTH - 2 * MARGIN));
    put_text(flame->to, box->name, length);
    if (box->executable[0] != '\0') {
        fputs(" (", flame->to);
        put_text(flame->to, box->executable, SIZE_MAX);
        fputc(')', flame->to);
    }
    fputs(": ", flame->to);
    put_amount(flame, box->weight);
    fprintf(flame->to,
            "</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" rx=\"1.5\" fill=\"", x, y,
            width, ROW - 1);
    put_colour(flame->to, box);
    fprintf(flame->to, "\"/><text x=\"%.2f\" y=\"%.1f\" data-n=\"", x + 3, y + 12);
    put_text(flame->to, box->name, length);
    fputs("\">", flame->to);
    put_text(flame->to, box->name, fits >= length ? length : fits > 2 ? fits - 2 : 0);
    fputs(fits >= length || fits <= 2 ? "</text></g>\n" : "..</text></g>\n", flame->to);
}

/* Leaves out narrow boxes with all that is above them, and finds the deepest level. */
static void choose_boxes(struct flame *flame)
{
    unsigned hidden = DEPTH_MAX;
    size_t kept = 0;

    for (size_t i = 0; i < flame->count; i++)
        flame->whole += flame->boxes[i].depth == 1 ? flame->boxes[i].weight : 0;
    flame->scale = flame->whole ? (WIDTH - 2 * MARGIN) / (double)flame->whole : 0;
    for (size_t i = 0; i < flame->count; i++) {
        struct box *box = &flame->boxes[i];
        bool is_narrow = (double)box->weight * flame->scale < LEAST;

        if (box->depth > hidden)
            continue;
        hidden = is_narrow ? box->depth : DEPTH_MAX;
        if (is_narrow)
            box->name = NULL; /* it takes its place, but is not drawn */
        else if (box->depth > flame->depth)
            flame->depth = box->depth;
        flame->boxes[kept++] = *box;
    }
    flame->count = kept;
}

static void put_boxes(const struct flame *flame)
{
    double *ends = alloc_zero(DEPTH_MAX + 2, sizeof(ends[0])); /* of the last box, by depth */
    const struct box all = {.name = "all", .executable = "", .weight = flame->whole};

    put_box(flame, &all, MARGIN);
    ends[1] = MARGIN;
    for (size_t i = 0; i < flame->count; i++) {
        const struct box *box = &flame->boxes[i];

        ends[box->depth + 1] = ends[box->depth];
        if (box->name != NULL)
            put_box(flame, box, ends[box->depth]);
        ends[box->depth] += (double)box->weight * flame->scale;
    }
    free(ends);
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

static void put_flame(struct flame *flame)
{
    FILE *to = flame->to;
    double height;

    choose_boxes(flame);
    height = HEAD + ROW * (double)(flame->depth + 1) + FOOT;
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n",
            WIDTH, height, WIDTH, height);
    fputs(style, to);
    fprintf(to, "<text class=\"h\" x=\"%.0f\" y=\"24\">", WIDTH / 2);
    put_text(to, flame->title, SIZE_MAX);
    fprintf(to,
            "</text>\n<text class=\"b\" id=\"r\" x=\"%.0f\" y=\"24\">whole</text>\n"
            "<text class=\"b\" id=\"s\" x=\"%.0f\" y=\"24\" text-anchor=\"end\">search</text>\n"
            "<text class=\"n\" id=\"i\" x=\"%.0f\" y=\"%.0f\"> </text>\n"
            "<text class=\"n\" id=\"m\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\"> </text>\n",
            MARGIN, WIDTH - MARGIN, MARGIN, height - 9, WIDTH - MARGIN, height - 9);
    if (flame->whole > 0)
        put_boxes(flame);
    fputs(script, to);
    fputs("</svg>", to);
}

static const char *text_of(struct flame *flame, sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    return arena_string(&flame->arena, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

void sql_flame_row(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct flame *flame = sqlite3_aggregate_context(context, sizeof(*flame));
    sqlite3_int64 depth = sqlite3_value_int64(argv[2]);

    if (flame == NULL || depth < 1 || depth > DEPTH_MAX)
        return;
    if (flame->title == NULL) {
        flame->title = text_of(flame, argv[0]);
        flame->unit = text_of(flame, argv[1]);
    }
    if (flame->count == flame->size)
        flame->boxes = array_grow(flame->boxes, flame->count, &flame->size, sizeof(flame->boxes[0]));
    flame->boxes[flame->count++] = (struct box){.name = text_of(flame, argv[4]),
                                                .executable = text_of(flame, argv[5]),
                                                .is_kernel = sqlite3_value_int(argv[6]) != 0,
                                                .depth = (unsigned)depth,
                                                .weight = (uint64_t)sqlite3_value_int64(argv[3])};
}

void sql_flame(sqlite3_context *context)
{
    struct flame *flame = sqlite3_aggregate_context(context, 0), none = {.title = "No samples"};
    char *text = NULL;
    size_t size;

    flame = flame != NULL ? flame : &none;
    flame->to = open_memstream(&text, &size);
    put_flame(flame);
    fclose(flame->to);
    sqlite3_result_text(context, text, (int)size, SQLITE_TRANSIENT);
    free(text);
    free(flame->boxes);
    arena_free(&flame->arena);
}
