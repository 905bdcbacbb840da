/**
 * The output for people: aligned columns, no colours outside a terminal or under NO_COLOR, no control sequences in
 * data.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cli } from "../../cli/Cli.ts"
import { namesIn } from "../../cli/names.ts"
import { fields, joined, Moment, Named, stack, table, text, time, richText } from "../../cli/views/View.ts"
import { withShortPrints } from "../../cli/views/shortPrints.ts"
import { plainScreen } from "../../cli/views/cellText.ts"
import { render } from "../../cli/views/render.ts"
import { span } from "../../cli/views/age.ts"
import { queueView } from "../../cli/views/queueView.ts"
import { venueView } from "../../cli/views/venueView.ts"
import { changeText, stateText } from "../../cli/views/stateText.ts"
import { runCli } from "../../cli/runCli.ts"
import { lastRuling } from "../../cli/lastRuling.ts"
import { recordingIo } from "../operator/operatorHarness.ts"

const people = [
  { id: 1, name: "Anna", note: null },
  { id: 12, name: "Ødegård 張", note: "x" }
]

describe("operator surface, human output", () => {
  it("a table has one aligned line a row, however wide its characters are", () => {
    const view = table(people, { id: (row) => row.id, name: (row) => row.name, note: (row) => row.note }, "nobody")
    assert.deepStrictEqual(render(view, plainScreen).split("\n"), [
      "ID  NAME        NOTE",
      "1   Anna",
      "12  Ødegård 張  x"
    ])
  })

  it("a line of one word, such as a link, is never broken", () => {
    const link = `https://127.0.0.1:8443/atlas?ticket=${"0af".repeat(30)}`
    const narrow = { ...plainScreen, columns: 80 }
    assert.strictEqual(render(text(link), narrow), link)
    assert.include(render(text(`opens until ${"word ".repeat(20)}`), narrow), "\n")
  })

  it("the queue shortens no command, even on a narrow terminal", () => {
    const row = { kind: "deposit", partner: "ACM", clientUid: "ACM-00000005", amount: "100.50", currency: "EUR" }
    const about = "a rather long story of where it comes from"
    const waiting = [{ ...row, id: "7", since: 0, about, decide: ["deposit confirm 7"], mayDecide: true }]
    const view = queueView({ asOf: 5_000, waiting, counts: [], hasMore: false } as never)
    assert.include(render(view, plainScreen), `100.50 EUR ${about}  deposit confirm 7`)
    const narrow = render(view, { ...plainScreen, columns: 28 })
    assert.match(narrow, /^WAITS +SUBJECT +COMMAND$/m)
    assert.include(narrow, "Not shown: OWNER.")
  })

  it("audit tail names the actor at 80 columns, whatever has changed", async () => {
    const entry = {
      auditId: 7,
      ts: 0,
      role: "FINANCE",
      keyLabel: "first start",
      requestId: "r",
      partnerId: 1,
      clientId: 1
    }
    const change = {
      object: "withdrawalRequest:2",
      action: "withdrawal.approve",
      before: "REQUESTED",
      after: "A".repeat(24)
    }
    const { io, printed } = recordingIo({ size: () => ({ columns: 80, rows: 24 }) })
    const answer = { entries: [{ ...entry, ...change, reason: null }], nextAfter: 7, more: false }
    const service = () => Promise.resolve({ code: 0, data: answer, partner: new Map(), operator: new Map() })
    await runCli(["audit", "tail", "--url", "https://127.0.0.1:1", "--operator-key", "k"], io, service as never)
    assert.match(printed.stdout, /^ID +TIME +BY .*ACTION/m)
    assert.include(printed.stdout, "FINANCE/first")
  })

  it("raw times of the audit are shown as times, and lengths in two units", () => {
    assert.deepStrictEqual([45_000, 5_727_915, 1_825.9 * 86_400_000, 86_400_000, -1].map(span), [
      "45s",
      "1h 35m",
      "5y",
      "1d",
      "0s"
    ])
    assert.strictEqual(String(stateText("5727915 ms ahead -> 34527915 ms ahead")), "1h 35m ahead -> 9h 35m ahead")
    assert.strictEqual(String(stateText("OPEN -> CLOSED")), "OPEN -> CLOSED")
    const block = { object: "verificationBlock:5:PEP", before: "PEP APPROVED", after: "PEP EXPIRED" }
    assert.strictEqual(String(changeText(block)), "APPROVED -> EXPIRED")
  })

  it("a last decision names a key and no fingerprint; an object without a decision has none", async () => {
    const said = async (before: string | null, reason: string) => {
      const entry = {
        ts: 0,
        role: "ADMIN",
        keyLabel: "ops",
        action: "approval.request",
        before,
        after: "PENDING",
        reason
      }
      const api = { audit: { tail: () => Promise.resolve({ code: 0, data: { entries: [entry] } }) } }
      const view = await lastRuling(api as never, "approval:3")
      return view === null ? "" : render(view, plainScreen)
    }
    assert.strictEqual(
      await said(null, `withdrawal approve ${"7c".repeat(32)} by 1`),
      "No decision yet: approval.request, PENDING, by ADMIN/ops at 1970-01-01 00:00:00Z: withdrawal approve"
    )
    assert.match(await said("OPEN", "by hand"), /^Last decision: .*OPEN -> PENDING, .*: by hand$/)
  })

  it("a uid is not broken while another column can be narrower", () => {
    const uid = "SPBPST0X-00000009"
    const row = {
      uid,
      name: "A Nametobefolded",
      object: "withdrawalRequest:513",
      state: "KYC_PENDING",
      kind: "CLIENT_ASSETS"
    }
    const columns = Object.fromEntries(
      Object.keys(row).map((name) => [name, (each: typeof row) => each[name as keyof typeof row]])
    )
    for (const width of [40, 50, 60, 80]) {
      const lines = render(table([row], columns, "none"), { ...plainScreen, columns: width })
      assert.include(lines, uid, `${width}`)
      assert.notInclude(lines, "withdrawalRequest:\n", `${width}`)
    }
  })

  it("a fingerprint is shown as its first eight digits and a mark, all other values completely", () => {
    const print = "122b54c6".padEnd(64, "0a")
    assert.deepStrictEqual(withShortPrints({ destination: print, in: [`is ${print}: r`], at: 5, id: "122b54c6" }), {
      destination: "122b54c6…",
      in: ["is 122b54c6…: r"],
      at: 5,
      id: "122b54c6"
    })
  })

  it("an empty table has a sentence", () => {
    assert.strictEqual(render(table([], { id: () => 1 }, "no partners"), plainScreen), "no partners")
  })

  it("fields keep empty values in line, times are readable, lists joined, flat objects spelled out", () => {
    const view = fields({
      code: "ACME",
      note: null,
      allowedCidrs: ["a", "b"],
      createdAt: 0,
      limits: { read: 1, trade: 2 },
      nested: { a: { b: 1 } }
    })
    assert.deepStrictEqual(render(stack(view, text("done")), plainScreen).split("\n"), [
      "code          ACME",
      "note",
      "allowedCidrs  a, b",
      "createdAt     1970-01-01 00:00:00Z",
      "limits        read 1, trade 2",
      "nested.a      b 1",
      "done"
    ])
    assert.strictEqual(time(null), "")
  })

  it("times in sentences and nested facts are readable, and names are the reader's terms", () => {
    const at = Date.UTC(2026, 10, 27, 12, 5, 9, 7)
    const view = stack(
      text(richText`open since ${time(at)} by ${new Named("operator", 3)}`),
      fields({ margin: { asOfAt: at, partnerId: 2, of: [{ since: at, until: 5 }] }, empty: richText`` }),
      text(joined(["", null, "a", new Moment(at, "clock")], "  "))
    )
    const names = { partner: new Map([[2, "ACME"]]), operator: new Map([[3, "desk"]]) }
    assert.deepStrictEqual([...namesIn(view)].toSorted(), ["operator", "partner"])
    assert.deepStrictEqual(render(view, { ...plainScreen, times: "utc", names }).split("\n"), [
      "open since 2026-11-27 12:05:09Z by desk",
      "margin.asOfAt     2026-11-27 12:05:09Z",
      "margin.partnerId  2 (ACME)",
      "margin.of.1       since 2026-11-27 12:05:09Z, until 5",
      "empty",
      "a  12:05:09.007Z"
    ])
    assert.include(render(view, plainScreen), "since 2026-11-27 12:05:09.007Z, until 5")
  })

  it("a short time has its date if it is not today's", () => {
    const [today, old] = [new Date(), new Date(2001, 1, 3, 4, 5, 6)]
    const shown = ([today, old] as const).map((date) =>
      render(text(richText`${new Moment(date.getTime(), "brief")}`), { ...plainScreen, times: "short" })
    )
    assert.match(shown[0] ?? "", /^\d\d:\d\d:\d\d$|^\d\d \w{3} \d\d:\d\d$/)
    assert.strictEqual(shown[1], "03 Feb 2001 04:05")
  })

  it("sim venue show writes every time in the same form", () => {
    const at = Date.UTC(2026, 10, 27, 12, 5, 9, 7)
    const fault = { kind: "outage", route: "all", symbol: null, timesLeft: 1, until: at + 30_000, struck: 0 } as const
    const view = venueView({
      at,
      seed: 1,
      number: 7,
      startedAt: at - 1_000,
      readers: { events: 1, marketData: 1, subscriptions: 1 },
      markets: [],
      dealers: [],
      faults: [fault]
    })
    const shown = render(view, { ...plainScreen, times: "utc" })
    assert.deepStrictEqual(shown.match(/\d{4}-\d\d-\d\d [\d:.]+Z?/g), [
      "2026-11-27 12:05:09Z",
      "2026-11-27 12:05:08Z",
      "2026-11-27 12:05:39Z"
    ])
    assert.match(shown, /\(1 subscription\)[^]* 1 time, until /)
    assert.notMatch(shown, /\d{12}/)
  })

  it("control characters of names never reach the terminal", () => {
    const shown = render(fields({ name: "a\u001b[31mb\u0007\u202ec" }), plainScreen)
    assert.strictEqual(shown, "name  a\\x1b[31mb\\x07\\u202ec")
  })

  it.each([
    [false, {}, false],
    [true, {}, true],
    [true, { NO_COLOR: "" }, true],
    [true, { NO_COLOR: "1" }, false]
  ])("terminal %s with %j is styled: %s", (terminal, env, styled) => {
    assert.strictEqual(new Cli(recordingIo({ terminal, env }).io).styled, styled)
  })
})
