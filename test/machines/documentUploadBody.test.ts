/**
 * Document uploads, the fields: safe names, purposes, types, and the size computed from the text alone (doc 1,
 * Document; A1-14, A1-37).
 */
import { assert, describe, it } from "@effect/vitest"
import { documentPurposes, documentTypeOf } from "../../src/machines/document/Document.ts"
import { decodeDocumentUpload } from "../../src/machines/document/DocumentUploadBody.ts"
import { bodyCaps } from "../../src/machines/shared/Limits.ts"

const body = { name: "passport.png", contentType: "image/png", dataBase64: "AAAA", purpose: "identity" }
/** The body as it arrives: undefined members are not sent. */
const decide = (over: object) => decodeDocumentUpload(JSON.parse(JSON.stringify({ ...body, ...over })))

const names: ReadonlyArray<readonly [title: string, sent: string, kept: string]> = [
  ["a plain name", "passport.png", "passport.png"],
  ["any script", "Führerschein 身份证.pdf", "Führerschein 身份证.pdf"],
  ["decomposed letters, composed", "u\u0308.pdf", "ü.pdf"],
  ["a path of slashes", "/etc/../secret/scan.pdf", "scan.pdf"],
  ["a path of backslashes", "C:\\fakepath\\scan.pdf", "scan.pdf"],
  ["both kinds", "..\\a/b\\scan.pdf", "scan.pdf"],
  ["white space around the last part", "dir/ scan.pdf ", "scan.pdf"],
  ["marks that turn the reading direction", "scan\u202efdp.exe", "scanfdp.exe"],
  ["no invisible characters", "pass\u200b\u00ad\u2060port\ufeff.png", "passport.png"],
  ["joiners between letters", "می\u200cخواهم क्\u200dष.pdf", "می\u200cخواهم क्\u200dष.pdf"],
  ["no joiners elsewhere", "\u200da\u200d\u200db\u200c.pdf\u200d", "ab.pdf"],
  ["the longest name", "n".repeat(255), "n".repeat(255)],
  ["the longest name behind any path", `${"folder/".repeat(100)}${"n".repeat(255)}`, "n".repeat(255)],
  ["the longest name, beyond the first plane", "😀".repeat(255), "😀".repeat(255)]
]

const bad: ReadonlyArray<readonly [title: string, over: object, errors: Readonly<Record<string, string>>]> = [
  ["no name", { name: undefined }, { name: "The file name is required." }],
  ["a null name", { name: null }, { name: "The file name is required." }],
  ["an empty name", { name: " " }, { name: "The file name is required." }],
  ["a name that is a folder", { name: "folder/" }, { name: "The file name must name a file." }],
  ["a name that is a way up", { name: "a/.." }, { name: "The file name must name a file." }],
  ["a name of marks alone", { name: "\u202e\u202c" }, { name: "The file name is required." }],
  ["a name of a zero width space", { name: "\u200b" }, { name: "The file name is required." }],
  ["a name of joiners", { name: "\u200d\u200c" }, { name: "The file name is required." }],
  ["a name of fillers", { name: "\u3164\u115f \u2800" }, { name: "The file name is required." }],
  ["a name of marks of other letters", { name: "\u0301\ufe0f" }, { name: "The file name must name a file." }],
  ["a long name of a folder", { name: `${"n".repeat(300)}/` }, { name: "The file name must name a file." }],
  [
    "a name too long in a folder",
    { name: `a/${"n".repeat(256)}` },
    { name: "The file name must be at most 255 characters." }
  ],
  ["a name too long", { name: "n".repeat(256) }, { name: "The file name must be at most 255 characters." }],
  [
    "a control character",
    { name: "a\u0007.pdf" },
    { name: "The file name must not contain control characters or line breaks." }
  ],
  ["a name that is no text", { name: 7 }, { name: "The file name must be text." }],
  ["no purpose", { purpose: undefined }, { purpose: "The purpose is required." }],
  [
    "a foreign purpose",
    { purpose: "IDENTITY" },
    { purpose: "The purpose must be one of: identity, address, w9, other." }
  ],
  ["no content", { dataBase64: undefined }, { dataBase64: "The content is required." }],
  ["a content that is no text", { dataBase64: [1] }, { dataBase64: "The content must be text." }],
  ["a content type that is no text", { contentType: {} }, { contentType: "The content type must be text." }]
]

describe("doc 1, Document: the upload body", () => {
  for (const [title, sent, kept] of names) {
    it(`A1-37: the name keeps ${title}`, () => {
      assert.deepStrictEqual(decide({ name: sent }), {
        ok: true,
        body: { filename: kept, purpose: "identity", dataBase64: "AAAA" }
      })
    })
  }

  for (const [title, over, errors] of bad) {
    it(`A1-37: ${title} is refused`, () => {
      const decided = decide(over)
      const [sentence] = Object.values(errors)
      assert.deepStrictEqual(decided, {
        ok: false,
        refusal: { _tag: "Invalid", reason: "INVALID_FIELDS", sentence: sentence as string, errors }
      })
    })
  }

  it("A1-27: every failing field is named", () => {
    const decided = decodeDocumentUpload({})
    assert.isFalse(decided.ok)
    if (!decided.ok && decided.refusal._tag === "Invalid") {
      assert.sameMembers(Object.keys(decided.refusal.errors ?? {}), ["name", "dataBase64", "purpose"])
    } else assert.fail("not invalid")
  })

  it("doc 1, Document: contentType is informational", () => {
    for (const contentType of [undefined, null, "", "text/html"]) assert.isTrue(decide({ contentType }).ok)
  })

  const full = bodyCaps.documentBase64 - 1
  const sizes: ReadonlyArray<readonly [title: string, dataBase64: string, tooLarge: boolean]> = [
    ["a full file", `${"A".repeat(full)}=`, false],
    ["a full file without padding", "A".repeat(full), false],
    ["a full file with too much padding", `${"A".repeat(full)}===`, false],
    ["one byte more, which needs no padding", "A".repeat(full + 1), true],
    ["two bytes more", `${"A".repeat(full + 3)}==`, true],
    ["two bytes more without padding", "A".repeat(full + 3), true]
  ]
  it.each(sizes)(
    "rule 10: %s: too large by its decoded length, whatever other faults it has",
    (_, dataBase64, tooLarge) => {
      const decided = decodeDocumentUpload({ dataBase64 })
      assert.strictEqual(decided.ok ? null : decided.refusal._tag, tooLarge ? "TooLarge" : "Invalid")
      assert.strictEqual(decodeDocumentUpload({ ...body, dataBase64 }).ok, !tooLarge)
    }
  )

  it("doc 1, Document: a body that is no object is refused", () => {
    for (const value of [null, [], "x", 1]) assert.isFalse(decodeDocumentUpload(value).ok)
  })

  it("doc 1, Document: the stored type follows the purpose", () => {
    assert.deepStrictEqual(
      documentPurposes.map((purpose) => [documentTypeOf(purpose, "passport"), documentTypeOf(purpose, null)]),
      [
        ["passport", "identity"],
        ["utility_bill", "utility_bill"],
        ["w9_form", "w9_form"],
        ["other", "other"]
      ]
    )
  })
})
