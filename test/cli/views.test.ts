/**
 * What a person sees: aligned columns, no colours outside a terminal or under NO_COLOR, nothing that commands the terminal.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cli } from "../../cli/Cli.ts"
import { namesIn } from "../../cli/names.ts"
import { fields, joined, Moment, Named, stack, table, text, time, words } from "../../cli/views/View.ts"
import { withShortPrints } from "../../cli/views/shortPrints.ts"
import { plainScreen } from "../../cli/views/cellText.ts"
import { render } from "../../cli/views/render.ts"
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

  it("a uid is not broken while another column can give way", () => {
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

  it("a fingerprint is its first eight figures and a mark, everything else stays whole", () => {
    const print = "122b54c6".padEnd(64, "0a")
    assert.deepStrictEqual(withShortPrints({ destination: print, in: [`is ${print}: r`], at: 5, id: "122b54c6" }), {
      destination: "122b54c6…",
      in: ["is 122b54c6…: r"],
      at: 5,
      id: "122b54c6"
    })
  })

  it("an empty table says so", () => {
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

  it("times inside sentences and nested facts are written for their reader, names by what people call them", () => {
    const at = Date.UTC(2026, 10, 27, 12, 5, 9, 7)
    const view = stack(
      text(words`open since ${time(at)} by ${new Named("operator", 3)}`),
      fields({ margin: { asOfAt: at, partnerId: 2, of: [{ since: at, until: 5 }] }, empty: words`` }),
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

  it("a brief moment has its date when it is not of today", () => {
    const [today, old] = [new Date(), new Date(2001, 1, 3, 4, 5, 6)]
    const shown = ([today, old] as const).map((date) =>
      render(text(words`${new Moment(date.getTime(), "brief")}`), { ...plainScreen, times: "short" })
    )
    assert.match(shown[0] ?? "", /^\d\d:\d\d:\d\d$|^\d\d \w{3} \d\d:\d\d$/)
    assert.strictEqual(shown[1], "03 Feb 2001 04:05")
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
