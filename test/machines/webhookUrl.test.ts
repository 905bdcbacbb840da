/**
 * The url of PUT /webhook: every spelling is normalised, and an invalid one is refused with a sentence (doc 3, Webhook
 * registration and delivery; A3-32; SSRF-043).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { parseWebhookUrl } from "../../src/machines/webhook/webhookUrl.ts"

const long = (characters: number): string => `https://a.example/${"x".repeat(characters - "https://a.example/".length)}`

/** The sent form, the stored form, and the checked host. */
const taken: ReadonlyArray<readonly [sent: string, url: string, host: string]> = [
  ["https://example.com/hook", "https://example.com/hook", "example.com"],
  ["https://example.com", "https://example.com/", "example.com"],
  ["https://example.com:8443/hook", "https://example.com:8443/hook", "example.com"],
  ["https://example.com:443/hook", "https://example.com/hook", "example.com"],
  ["HTTPS://Example.COM/Hook", "https://example.com/Hook", "example.com"],
  ["https://example.com./hook", "https://example.com/hook", "example.com"],
  ["https://example.com/hook?tenant=1&x=a@b", "https://example.com/hook?tenant=1&x=a@b", "example.com"],
  ["https://example.com/a/../b", "https://example.com/b", "example.com"],
  ["https://bücher.example/", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"],
  ["https://ｅｘａｍｐｌｅ.com/", "https://example.com/", "example.com"],
  ["https://localhost./", "https://localhost/", "localhost"],
  ["https://LOCALHOST/", "https://localhost/", "localhost"],
  ["https://127.1/", "https://127.0.0.1/", "127.0.0.1"],
  ["https://0x7f000001/", "https://127.0.0.1/", "127.0.0.1"],
  ["https://2130706433/", "https://127.0.0.1/", "127.0.0.1"],
  ["https://017700000001/", "https://127.0.0.1/", "127.0.0.1"],
  ["https://127.0.0.1./", "https://127.0.0.1/", "127.0.0.1"],
  ["https://%31%32%37.0.0.1/", "https://127.0.0.1/", "127.0.0.1"],
  ["https://１２７.0.0.1/", "https://127.0.0.1/", "127.0.0.1"],
  ["https://[::1]:9443/", "https://[::1]:9443/", "::1"],
  ["https://[0:0:0:0:0:0:0:1]/", "https://[::1]/", "::1"],
  ["https://[::ffff:10.0.0.1]/", "https://[::ffff:a00:1]/", "::ffff:a00:1"],
  [long(2_048), long(2_048), "a.example"]
]

const absolute = "The url must be an absolute https URL."
const unreadable = "The url must not contain spaces, control characters or backslashes."
const password = "The url must not contain a user name or password."

const refused: ReadonlyArray<readonly [sent: unknown, sentence: string]> = [
  [undefined, "The url is required."],
  [null, "The url is required."],
  ["", "The url is required."],
  [7, "The url must be text."],
  [["https://example.com/"], "The url must be text."],
  ["http://example.com/", absolute],
  ["ftp://example.com", absolute],
  ["example.com/hook", absolute],
  ["//example.com/hook", absolute],
  ["/hook", absolute],
  ["https:", absolute],
  ["https://", absolute],
  ["https:///x", absolute],
  ["https:/example.com/", absolute],
  ["https:example.com/", absolute],
  ["https://?x=1", absolute],
  ["https://./", absolute],
  ["https://../", absolute],
  ["https://a..example/", absolute],
  ["https://.example/", absolute],
  ["https://localhost../", absolute],
  ["https://example.com:99999/", absolute],
  ["https://256.1.1.1/", absolute],
  ["https://1.2.3.4.5/", absolute],
  ["https://[::1/", absolute],
  ["https://[fe80::1%25eth0]/", absolute],
  ["https://exa<mple.com/", absolute],
  ["https://user:pw@example.com/", password],
  ["https://user@example.com/", password],
  ["https://@example.com/", password],
  ["https://8.8.8.8@127.0.0.1/", password],
  ["https://example.com/hook#top", "The url must not contain a fragment."],
  ["https://example.com/hook#", "The url must not contain a fragment."],
  [" https://example.com/", unreadable],
  ["https://example.com/ ", unreadable],
  ["https://exam\tple.com/", unreadable],
  ["https://example.com/a b", unreadable],
  ["https://example.com\\@127.0.0.1/", unreadable],
  ["https:\\\\example.com/", unreadable],
  ["https://example.com/\u0000", unreadable],
  ["https://example.com/\u0085", unreadable],
  [long(2_049), "The url must be at most 2,048 characters long."],
  // 2,000 characters as sent, three times as many once they are percent-encoded.
  [`https://a.example/${"ü".repeat(1_900)}`, "The url must be at most 2,048 characters long."]
]

describe("A3-32: the url of a webhook", () => {
  it.each(taken)("A3-32, SSRF-043: %s is read as %s, host %s", (sent, url, host) =>
    assert.deepStrictEqual(parseWebhookUrl(sent), { ok: true, url, host })
  )

  it.each(refused)("A3-32, SSRF-043: %j is refused: %s", (sent, sentence) =>
    assert.deepStrictEqual(parseWebhookUrl(sent), { ok: false, sentence })
  )

  it("A3-32: a stored url is read again as the same url and host, and connected to as judged", () => {
    const piece = fc.constantFrom(
      "https://",
      "a",
      ".",
      "@",
      ":",
      "8",
      "/",
      "%41",
      "ü",
      "[",
      "]",
      "::1",
      "0x7f",
      "?",
      "com"
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const first = parseWebhookUrl(`https://${pieces.join("")}`)
        if (!first.ok) return
        assert.deepStrictEqual(parseWebhookUrl(first.url), first)
        const url = new URL(first.url)
        assert.strictEqual(url.hostname.replace(/^\[|\]$/g, ""), first.host)
        assert.deepStrictEqual([url.protocol, url.username, url.password, url.hash], ["https:", "", "", ""])
      }),
      { numRuns: 2_000 }
    )
  })
})
