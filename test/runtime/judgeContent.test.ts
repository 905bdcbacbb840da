/**
 * Contents of documents judged by themselves: strict base64 and first bytes, with the golden cases (rule 10; A1-37;
 * RFC 4648; WHATWG MIME Sniffing).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { decodeBase64Strict, judgeContent, sniff } from "../../src/runtime/services/document/judgeContent.ts"
import { base64Cases, sniffCases } from "../fixtures/golden.ts"

describe("A1-37: strict base64", () => {
  it.each(base64Cases)("$id: $base64", ({ base64, text }) => {
    assert.strictEqual(decodeBase64Strict(base64)?.toString("latin1"), text)
  })

  const refused = [
    "Zg=",
    "Zg",
    "Zg===",
    "Zm9v====",
    "====",
    "=",
    "Zh==",
    "Zm9=",
    "Z=g=",
    "Zg==Zg==",
    "Zm9vYg==Zm9v",
    " Zm9v",
    "Zm9v\n",
    "Zm9v\r\n\t ",
    "Zm\n9v",
    "Zm-_",
    "Zm9\u0176",
    "\u015am9v",
    "Zm9*",
    "Zm9\u0000",
    "data:,Zm9v"
  ]
  it.each(refused)("RFC 4648, section 3: %j is refused", (base64) => {
    assert.isNull(decodeBase64Strict(base64))
  })

  it("RFC 4648, section 3.5: exactly what an encoder writes is taken, whatever is changed in it", () => {
    const change = fc.record({
      bytes: fc.uint8Array({ maxLength: 40 }),
      at: fc.nat(60),
      cut: fc.nat(2),
      put: fc.oneof(
        fc.constant(""),
        fc.constantFrom(..."=AZaz09+/-_ \n!\u00e9\u0141\ud800"),
        fc.string({ maxLength: 3 })
      )
    })
    fc.assert(
      fc.property(change, ({ bytes, at, cut, put }) => {
        const encoded = Buffer.from(bytes).toString("base64")
        const text = encoded.slice(0, at) + put + encoded.slice(at + cut)
        const lenient = Buffer.from(text, "base64")
        const strict = decodeBase64Strict(text)
        assert.deepStrictEqual(strict, lenient.toString("base64") === text ? lenient : null)
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("rule 10: what a file is by its first bytes", () => {
  it.each(sniffCases)("$id: $hex is $type", ({ hex, type }) => {
    const bytes = Buffer.from(hex, "hex")
    assert.strictEqual(sniff(bytes) ?? "refused", type)
    const verdict = judgeContent(bytes.toString("base64"))
    assert.deepStrictEqual(
      verdict.ok ? verdict.value : "refused",
      type === "refused" ? type : { mimeType: type as "image/png", sizeBytes: bytes.length }
    )
  })

  const headers = ["efbbbf", "fffe", "feff", "49443303000000000000", "20", "00"]
  it.each(headers)("rule 10: nothing may stand before the first bytes, not %s", (header) => {
    for (const { hex } of sniffCases.filter(({ type }) => type !== "refused")) {
      assert.isNull(sniff(Buffer.from(header + hex, "hex")), hex)
    }
  })

  it("rule 10: less than a signature is none", () => {
    for (const { hex } of sniffCases) assert.isNull(sniff(Buffer.from(hex.slice(0, 4), "hex")), hex)
  })
})
