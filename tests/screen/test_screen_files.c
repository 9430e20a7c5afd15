/* SPDX-License-Identifier: MIT */
/* test_screen_files.c: the text of conjunctions.csv: format, rounding, names that need quotes, and
 * what happens when it cannot be written.
 */
#include "screen_files.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static struct screen_result one_approach(struct tle_object objects[2],
                                         struct screen_approach *approach)
{
    objects[0] = (struct tle_object){.number = 5, .name = "VANGUARD 1"};
    objects[0].elements.epoch_day = moment_of_date(2026, 8, 10).day;
    objects[1] = (struct tle_object){.number = 270002, .name = "A \"B\", C"};
    objects[1].elements.epoch_day = moment_of_date(2026, 8, 12).day;
    *approach = (struct screen_approach){.tca_s = 3600.0004,
                                         .miss_km = 1.2345674,
                                         .vrel_km_s = 14.0000006,
                                         .object_a = 0,
                                         .object_b = 1};
    struct screen_result r = {.approaches = approach, .approach_count = 1};
    r.catalogue.objects = objects;
    r.catalogue.count = 2;
    r.window.start = moment_of_date(2026, 8, 11);
    return r;
}

Test(screen_files, the_file_has_rounded_figures_and_quoted_names)
{
    char folder[] = "/tmp/weft_test_report_XXXXXX", path[80], text[400];
    struct tle_object objects[2];
    struct screen_approach approach;
    const struct screen_result r = one_approach(objects, &approach);
    CHECK(mkdtemp(folder) != NULL);
    const struct screen_options o = {.out = folder};
    CHECK(screen_files_prepare(&o) == 0);
    CHECK(screen_files_approaches(&o, &r) == 0);
    snprintf(path, sizeof path, "%s/conjunctions.csv", folder);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    CHECK_TEXT(text, "norad_a,norad_b,tca_utc,miss_km,vrel_km_s,name_a,name_b,days_since_epoch_a,"
                     "days_since_epoch_b,at_edge\n"
                     "5,270002,2026-08-11T01:00:00.000Z,1.234567,14.000001,VANGUARD 1,"
                     "\"A \"\"B\"\", C\",1.042,-0.958,\n");
    remove(path);
    CHECK(rmdir(folder) == 0); /* nothing else was left */
}

Test(screen_files, a_full_disk_is_an_error_and_leaves_no_file)
{
    char folder[] = "/tmp/weft_test_report_XXXXXX", path[80];
    struct tle_object objects[2];
    struct screen_approach approach;
    const struct screen_result r = one_approach(objects, &approach);
    CHECK(mkdtemp(folder) != NULL);
    const struct screen_options o = {.out = folder};
    snprintf(path, sizeof path, "%s/conjunctions.csv", folder);
    if (symlink("/dev/full", path) == 0 && access("/dev/full", W_OK) == 0) {
        CHECK(screen_files_approaches(&o, &r) != 0);
    }
    unlink(path);
    CHECK(rmdir(folder) == 0);
}

Test(screen_files, a_folder_that_cannot_be_made_is_an_error_before_the_work)
{
    const struct screen_options o = {.out = "/dev/null/out"};
    CHECK(screen_files_prepare(&o) != 0);
}

Test(screen_files, a_link_stays_and_a_fifo_is_written_into)
{
    char folder[] = "/tmp/weft_test_report_XXXXXX", path[80], other[80], text[400] = "";
    struct tle_object objects[2];
    struct screen_approach approach;
    struct stat status;
    const struct screen_result r = one_approach(objects, &approach);
    CHECK(mkdtemp(folder) != NULL);
    const struct screen_options o = {.out = folder};
    snprintf(path, sizeof path, "%s/conjunctions.csv", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    FILE *file = fopen(other, "w");
    CHECK(file != NULL && fclose(file) == 0 && symlink("other", path) == 0);
    CHECK(screen_files_prepare(&o) == 0 && screen_files_approaches(&o, &r) == 0);
    CHECK(lstat(path, &status) == 0 && S_ISLNK(status.st_mode));
    CHECK(stat(other, &status) == 0 && status.st_size > 100);
    CHECK(unlink(path) == 0 && unlink(other) == 0 && mkfifo(path, 0600) == 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    CHECK(screen_files_prepare(&o) == 0 && screen_files_approaches(&o, &r) == 0);
    CHECK(read(reader, text, sizeof text - 1) > 100 && strncmp(text, "norad_a,", 8) == 0);
    CHECK(lstat(path, &status) == 0 && S_ISFIFO(status.st_mode));
    close(reader);
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(screen_files_prepare(&o) != 0);
    CHECK(rmdir(path) == 0 && rmdir(folder) == 0); /* nothing else was left */
}
