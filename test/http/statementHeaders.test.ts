/** Values of If-None-Match that match a statement's file (STS-32; RFC 9110, 8.8.3 and 13.1.2). */
import { assert, describe, it } from "@effect/vitest"
import { has } from "../../src/http/statementHeaders.ts"

const etag = '"ab12-1"'

describe("If-None-Match", () => {
  it.each<[string | undefined, boolean]>([
    [undefined, false],
    ["", false],
    [etag, true],
    [` ${etag} `, true],
    [`W/${etag}`, true],
    [`"x", W/"y" ,${etag}`, true],
    ["*", true],
    [" * ", true],
    // A comma or an asterisk inside a tag is a part of it.
    ['"x,*,y"', false],
    [`"a,b", ${etag}`, true],
    ['"x,ab12-1"', false],
    // A text that is no entity tag matches nothing.
    ["ab12-1", false],
    ['"ab12-1', false],
    [`w/${etag}x`, true],
    ["*, *", false],
    ['"AB12-1"', false],
    ['""', false],
    [`${'"x", '.repeat(1_000)}${etag}`, true],
    ['"'.repeat(20_000), false]
  ])("%j", (header, named) => assert.strictEqual(has(header, etag), named))
})
