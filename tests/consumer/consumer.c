/* consumer.c: the smallest program of a stranger: includes a public header, calls the library.
 */
#include <weft/base.h>

#include <stdio.h>

int main(void)
{
    puts(weft_result_name(WEFT_OK));
    return 0;
}
