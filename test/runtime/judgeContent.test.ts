/**
 * Contents of documents without a client: strict base64 and first bytes, with the golden cases (rule 10; A1-37; RFC
 * 4648; WHATWG MIME Sniffing).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { decodeBase64Strict, judgeContent, sniff } from "../../src/runtime/services/clients/document/judgeContent.ts"
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
  it.each(headers)("rule 10: nothing may stand before the first bytes of a picture, not %s", (header) => {
    for (const { hex } of sniffCases.filter(({ type }) => type.startsWith("image/"))) {
      assert.isNull(sniff(Buffer.from(header + hex, "hex")), hex)
    }
  })

  const macBinary = Buffer.alloc(128)
  macBinary[1] = 8
  macBinary.write("scan.pdf", 2, "latin1")
  const job = '\u001b%-12345X@PJL JOB NAME="scan"\r\n@PJL SET RESOLUTION=600\n@PJL ENTER LANGUAGE=PDF\r\n'
  const before: ReadonlyArray<readonly [title: string, bytes: Buffer]> = [
    ["a byte order mark", Buffer.from("efbbbf", "hex")],
    ["the mark of UTF-16", Buffer.from("feff", "hex")],
    ["white space", Buffer.from("\r\n \t\f")],
    ["a mark and white space", Buffer.from("efbbbf0d0a", "hex")],
    ["white space up to the last place", Buffer.alloc(1_024 - 5, " ")],
    ["a printer job", Buffer.from(job)],
    ["MacBinary", macBinary]
  ]
  it.each(before)("A1-37: %s may stand before a PDF", (_, bytes) => {
    assert.strictEqual(sniff(Buffer.concat([bytes, Buffer.from("%PDF-1.7\n")])), "application/pdf")
    for (const picture of ["89504e470d0a1a0a", "ffd8ffe0"]) {
      assert.isNull(sniff(Buffer.concat([bytes, Buffer.from(picture, "hex")])))
    }
  })

  const notBefore: ReadonlyArray<readonly [title: string, bytes: Buffer]> = [
    ["white space beyond the first 1,024 bytes", Buffer.alloc(1_024 - 4, " ")],
    ["another text", Buffer.from("see ")],
    ["zeros", Buffer.alloc(4)],
    ["a page of HTML", Buffer.from("<html><!-- ")],
    ["a printer job that prints something else", Buffer.from(`${job}%!PS-Adobe-3.0\n`)],
    ["half a MacBinary header", macBinary.subarray(0, 100)],
    ["a picture's header", Buffer.from("474946383961", "hex")]
  ]
  it.each(notBefore)("A1-37: not %s", (_, bytes) => {
    assert.isNull(sniff(Buffer.concat([bytes, Buffer.from("%PDF-1.7\n")])))
  })

  it("rule 10: less than a signature is none", () => {
    for (const { hex } of sniffCases) assert.isNull(sniff(Buffer.from(hex.slice(0, 4), "hex")), hex)
  })
})
