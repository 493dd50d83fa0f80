/* false.c - exits with status 1. */
int main(void)
{
    return 1;
}
