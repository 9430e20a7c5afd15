/* blob_fields.c: the described BLOB fields of component values: transfers and world files let them
 * refer to other blobs. Pure dispatch. Threads: whoever owns the values. */
#include "types.h"

#include <string.h>

bool weft__type_blobs(const weft__type *type, char *value, weft__blob_field_visit *visit,
                      void *user)
{
    for (uint32_t i = 0; i < type->desc.field_count; i++) {
        const weft_field *field = &type->desc.fields[i];
        uint32_t count = field->count == 0 ? 1 : field->count;
        for (uint32_t k = 0; k < count && field->kind == WEFT_FIELD_BLOB; k++) {
            weft_blob_ref ref;
            char *at = value + field->offset + k * sizeof ref;
            memcpy(&ref, at, sizeof ref);
            if (!visit(user, &ref)) return false;
            memcpy(at, &ref, sizeof ref);
        }
    }
    return true;
}
