/** Signatures and log sentences of webhook attempts. */
import { assert, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import * as fc from "fast-check"
import { answerError, connectionError } from "../../../src/runtime/services/webhooks/attemptError.ts"
import { signatureOf, signedHeaders } from "../../../src/runtime/services/webhooks/signature.ts"
import { hmacCases, signatureCase } from "../../fixtures/webhookSignatures.ts"

const secret = `whs_${"k".repeat(43)}`

describe("Webhook signature", () => {
  it.each(hmacCases)("$id: the digest primitive agrees with RFC 4231", ({ keyHex, dataHex, hex }) =>
    assert.strictEqual(
      createHmac("sha256", Buffer.from(keyHex, "hex")).update(Buffer.from(dataHex, "hex")).digest("hex"),
      hex
    )
  )

  it("A3-29, HMAC-009: keyed with the whole secret string, prefix included", () =>
    assert.strictEqual(
      signatureOf(signatureCase.secret, signatureCase.timestamp, signatureCase.body),
      signatureCase.header
    ))

  it("doc 3, headers: event, delivery, whole seconds and a signature over exactly these", () => {
    const webhook = { deliveryId: 41, event: "webhook.test", body: '{"ü":1}', url: "https://a.example/", secret }
    assert.deepStrictEqual(signedHeaders(webhook, 1_795_132_800_999), {
      "Content-Type": "application/json",
      "X-Brokerage-Event": "webhook.test",
      "X-Brokerage-Delivery": "41",
      "X-Brokerage-Timestamp": "1795132800",
      "X-Brokerage-Signature": `v1=${createHmac("sha256", secret).update('1795132800.{"ü":1}', "utf8").digest("hex")}`
    })
  })
})

describe("Delivery log error", () => {
  it.each([
    [500, "", "The endpoint answered 500."],
    [503, "down\r\n\tfor\u0000 repair\u2028now", "The endpoint answered 503: down for repair now"],
    [302, "go to 10.0.0.1", "The endpoint answered 302: redirects are not followed."],
    [400, `you sent ${secret}!`, "The endpoint answered 400: you sent [secret]!"],
    [
      500,
      "the next one: whs_abcDEF-_0123 or a part of it: whs_abc",
      "The endpoint answered 500: the next one: [secret] or a part of it: [secret]"
    ],
    [500, `split: ${secret.slice(0, 9)}\u200b${secret.slice(9)}`, "The endpoint answered 500: split: [secret]"]
  ])("A3-33: status %i", (status, body, sentence) => assert.strictEqual(answerError(status, body), sentence))

  it("A3-33: at most 256 bytes, never half a character, no control characters, whatever the endpoint answers", () =>
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 599 }), fc.string({ unit: "binary", maxLength: 600 }), (status, body) => {
        const text = answerError(status, body)
        assert.isAtMost(Buffer.byteLength(text), 256)
        assert.isTrue(text.isWellFormed())
        assert.notMatch(text, /[\p{Cc}\p{Zl}\p{Zp}]/u)
      })
    ))

  it("A3-33: a long text of wide characters is cut between two of them", () => {
    const text = answerError(500, "é".repeat(300))
    assert.isAtLeast(Buffer.byteLength(text), 255)
    assert.match(text, /^The endpoint answered 500: é+$/)
  })

  it.each([
    [{ code: "ECONNREFUSED" }, "The connection failed: ECONNREFUSED."],
    [
      { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
      "The endpoint's certificate is not trusted: DEPTH_ZERO_SELF_SIGNED_CERT."
    ],
    [
      { code: "ERR_TLS_CERT_ALTNAME_INVALID" },
      "The endpoint's certificate is not trusted: ERR_TLS_CERT_ALTNAME_INVALID."
    ],
    [{ code: "bad code with /path" }, "The connection failed: the connection broke."],
    [{}, "The connection failed: the connection broke."]
  ])("A3-33: connection failure %o", (error, sentence) => assert.strictEqual(connectionError(error), sentence))
})
