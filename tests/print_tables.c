/* print_tables.c - the option and method tables as plain lines, for the guards in test_tables.sh.
 */
#include <taut/taut.h>

#include <stdio.h>

int main(void)
{
    int count = 0;
    const taut_option *table = taut_option_table(&count);
    for (int k = 0; k < count; k++)
        printf("option\t%s\t%s\n", table[k].name, table[k].verbs);
    taut_method_info info = {.size = sizeof info};
    for (int k = 0; k < taut_method_count(); k++)
        if (taut_method_get(k, &info, NULL) == 0)
            printf("method\t%s\t%s\n", info.name, info.motions);
    return 0;
}
