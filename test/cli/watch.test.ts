/**
 * The live screen (operator surface, watch): the effect of keys, frames at several sizes, a service that becomes
 * unavailable, an item that another person decides, and the screen as ink draws it on a terminal that is resized.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { renderToString } from "ink"
import { PassThrough } from "node:stream"
import { createElement } from "react"
import { CliFailure, cliFailure } from "../../cli/CliIo.ts"
import type { CallService } from "../../cli/OperatorClient.ts"
import type { QueueData, WaitingRow } from "../../cli/views/queueView.ts"
import { plainScreen } from "../../cli/views/cellText.ts"
import { render } from "../../cli/views/render.ts"
import { rehearse, errorText } from "../../cli/watch/deeds.ts"
import { broken, perSecond, readFigures } from "../../cli/watch/figures.ts"
import { watchLive } from "../../cli/watch/watchApp.ts"
import { watchLines } from "../../cli/watch/watchLines.ts"
import {
  beginWatch,
  done,
  type Key,
  type Look,
  looked,
  disconnected,
  press,
  rehearsed,
  settled,
  type WatchState
} from "../../cli/watch/WatchModel.ts"
import { Frame } from "../../cli/watch/WatchScreen.ts"

const noon = Date.UTC(2026, 10, 27, 12)

const item = (over: Partial<WaitingRow>): WaitingRow => ({
  kind: "deposit",
  id: "7",
  since: noon - 90_000,
  state: "PENDING",
  partner: "ACM",
  clientId: 5,
  clientUid: "ACM-00000005",
  currency: "USDC",
  amount: "100.500000",
  about: null,
  command: "deposit confirm",
  decide: ["deposit confirm 7", "deposit reject 7 --reason R"],
  mayDecide: true,
  ...over
})
const aCase = item({
  kind: "case",
  id: "3",
  since: noon - 3 * 86_400_000,
  state: "OPEN",
  amount: null,
  currency: null,
  about: "SCREENING_HIT",
  command: "kyc clear",
  decide: ["kyc clear 5", "kyc reject 5 --reason R"]
})
const approval = item({
  kind: "approval",
  id: "9",
  about: "ledger adjust",
  decide: ["approval grant 9", "approval refuse 9"]
})
const foreign = item({ id: "8", mayDecide: false, decide: ["deposit confirm 8"] })
const payment = item({ kind: "withdrawal", id: "4", state: "APPROVED", decide: ["withdrawal pay 4"] })

const queueOf = (waiting: ReadonlyArray<WaitingRow>): QueueData => ({
  asOf: noon,
  waiting,
  counts: [...new Set(waiting.map(({ kind }) => kind))].map((kind) => {
    const those = waiting.filter((each) => each.kind === kind)
    return { kind, count: those.length, oldestAt: Math.min(...those.map(({ since }) => since)) }
  }),
  hasMore: false
})

const metrics = (answers: number, sum = 0) => `# HELP brokerage_answers_total x
brokerage_answers_total{status="200"} ${answers}
brokerage_answers_total{status="409"} 10
brokerage_postings_sum{currency="USDC"} ${sum}
brokerage_unsealed_rows 0
brokerage_webhook_deliveries{state="due"} 3
brokerage_webhook_deliveries{state="failed"} 1
brokerage_loop_lag_seconds{figure="p99"} 0.0123
brokerage_feed_connected 1
brokerage_risk_accounts 12
brokerage_risk_due 0
brokerage_venue_calls{state="lost"} 0
`

const lookOf = (waiting: ReadonlyArray<WaitingRow>, answers = 100, at = 1_000, sum = 0): Look => ({
  aheadMillis: 0,
  queue: queueOf(waiting),
  figures: readFigures(metrics(answers, sum), at),
  closeouts: [{ closeOutId: 7, clientUid: "ACM-00000001", state: "CLOSING" }],
  happened: [1, 2, 3, 4, 5].map((auditId) => ({
    auditId,
    ts: noon - 1_000 * (6 - auditId),
    role: "PARTNER",
    object: `depositNotice:${auditId}`,
    action: "deposit.file",
    before: null,
    after: "PENDING"
  }))
})

const begin = (waiting: ReadonlyArray<WaitingRow>): WatchState =>
  looked(looked(beginWatch("https://127.0.0.1:8443", "utc"), lookOf(waiting)), lookOf(waiting, 150, 3_000))

const named = (name: NonNullable<Key["name"]>): Key => ({ input: "", name })
const typed = (state: WatchState, ...keys: ReadonlyArray<string | Key>) =>
  keys
    .flatMap((key): ReadonlyArray<Key> => (typeof key === "string" ? [...key].map((input) => ({ input })) : [key]))
    .reduce((at, key) => press(at.state, key), { state, wish: null } as ReturnType<typeof press>)

const frame = (state: WatchState, columns: number, rows: number): string =>
  renderToString(createElement(Frame, { state, now: noon, styled: false, size: { columns, rows } }), { columns })

describe("watch: figures", () => {
  it("rates are those between two snapshots, and start again with the process", () => {
    const [early, late] = [readFigures(metrics(100), 1_000), readFigures(metrics(150), 3_000)]
    assert.strictEqual(perSecond(late, early, "brokerage_answers_total"), 25)
    assert.strictEqual(perSecond(early, null, "brokerage_answers_total"), null)
    assert.strictEqual(perSecond(readFigures(metrics(5), 5_000), late, "brokerage_answers_total"), null)
    assert.deepStrictEqual([broken(early), broken(readFigures(metrics(1, -5), 0))], [[], ["postings_sum USDC -5"]])
  })
})

describe("watch: keys", () => {
  it("a deposit: the action is looked up, shown, and executed with y alone", () => {
    const begun = typed(begin([foreign, item({})]), named("down"), named("enter"))
    assert.strictEqual(begun.wish?.kind, "rehearse")
    if (begun.wish?.kind !== "rehearse") return
    const { intent } = begun.wish
    assert.deepStrictEqual([intent.item.id, intent.verb.name], ["7", "confirm"])
    const shown = rehearsed(begun.state, intent, ["Confirm deposit 7", "books ..."])
    for (const key of ["a", "Y", named("down"), named("enter")]) assert.isNull(typed(shown, key).wish)
    assert.deepStrictEqual(typed(shown, "y").wish, { kind: "carryOut", intent })
    assert.strictEqual(typed(shown, named("escape")).state.mode.kind, "list")
    // Two confirmations cause one action.
    assert.isNull(typed(shown, "yy").wish)
    const ended = settled(typed(shown, "y").state, intent, "Done.")
    assert.deepStrictEqual([ended.mode.kind, ended.message], ["list", "Done."])
  })

  it("a refusal requires its reason first; a case may be cleared without a note", () => {
    const asked = typed(begin([item({})]), "x", named("enter"))
    assert.deepStrictEqual([asked.wish, asked.state.message], [null, "A reason is needed."])
    const { wish } = typed(asked.state, "noo", named("backspace"), "t \u0007in", named("enter"))
    assert.deepStrictEqual(wish?.kind === "rehearse" ? [wish.intent.verb.name, wish.intent.words] : [], [
      "reject",
      "not in"
    ])
    assert.strictEqual(typed(begin([aCase]), named("enter"), named("enter")).wish?.kind, "rehearse")
    const long = typed(begin([item({})]), "x", "r".repeat(600)).state.mode
    assert.strictEqual(long.kind === "asking" ? long.intent.words.length : 0, 500)
  })

  it("an item without a key here shows its command, and one for another role shows that", () => {
    const keyAsked = { ...approval, about: "key issue" }
    assert.include(typed(begin([keyAsked]), named("enter")).state.message, "brokerage approval grant 9")
    assert.include(typed(begin([foreign]), named("enter")).state.message, "may not")
    assert.isNull(typed(begin([]), named("enter"), "x", named("down"), named("up")).wish)
    const paid = typed(begin([payment]), named("enter")).wish
    assert.strictEqual(paid?.kind === "rehearse" ? paid.intent.verb.name : "", "pay")
  })

  it("an approval is granted and refused, and so is a withdrawal whose step waits for it", () => {
    const behind = { ...payment, decide: approval.decide, command: "approval grant" }
    for (const waiting of [approval, behind]) {
      const [granting, refusing] = [named("enter"), "x"].map((key) => typed(begin([waiting]), key).wish)
      assert.deepStrictEqual(
        [granting, refusing].map((wish) => (wish?.kind === "rehearse" ? wish.intent.verb.name : "")),
        ["grant", "refuse"]
      )
    }
  })

  it("an item that another operator decides is closed; the selection stays on its item when others disappear", () => {
    const shown = typed(begin([item({}), aCase]), named("enter"))
    const gone = looked(shown.state, lookOf([aCase]))
    assert.deepStrictEqual([gone.mode.kind, gone.message], ["list", "deposit 7 has been decided elsewhere meanwhile."])
    const onCase = typed(begin([item({}), aCase]), "j").state
    assert.strictEqual(looked(onCase, lookOf([aCase])).selected, 0)
    assert.strictEqual(looked(onCase, lookOf([])).selected, 0)
  })

  it("an item shows that only its approval was decided", () => {
    const behind = { ...payment, decide: approval.decide, command: "approval grant" }
    const shown = typed(begin([behind]), named("enter")).state
    assert.strictEqual(
      looked(shown, lookOf([payment])).message,
      "The approval 9 of withdrawal 4 has been decided elsewhere meanwhile."
    )
  })

  it("after an action another object is selected, or none: the same keys again take no further step", () => {
    const asked = item({ kind: "withdrawal", id: "4", state: "REQUESTED", decide: ["withdrawal approve 4"] })
    const chosenAfter = (waiting: ReadonlyArray<WaitingRow>, later: ReadonlyArray<WaitingRow>) => {
      const { state, wish } = typed(begin(waiting), named("enter"))
      if (wish?.kind !== "rehearse") throw new Error("nothing was asked for")
      const after = looked(
        done(typed(rehearsed(state, wish.intent, ["x"]), "y").state, wish.intent, "Done."),
        lookOf(later)
      )
      const again = typed(after, named("enter"))
      return [after.message, later[after.selected]?.id, again.wish?.kind, typed(after, "j").state.selected]
    }
    assert.deepStrictEqual(chosenAfter([asked], [payment]), ["Done.", undefined, undefined, 0])
    assert.deepStrictEqual(chosenAfter([asked, aCase], [payment, aCase]), ["Done.", "3", undefined, 1])
    assert.deepStrictEqual(chosenAfter([asked, item({})], [item({})]), ["Done.", "7", "rehearse", 0])
    // A step that another person took.
    assert.strictEqual(looked(begin([asked]), lookOf([payment])).selected, -1)
  })

  it("q and Ctrl-C end the screen; a typed letter does not", () => {
    assert.isTrue(typed(begin([]), "q").state.ended)
    assert.isTrue(typed(begin([item({})]), "x", { input: "c", ctrl: true }).state.ended)
    assert.isFalse(typed(begin([item({})]), "x", "q").state.ended)
  })
})

describe("watch: frames", () => {
  const many = Array.from({ length: 30 }, (_, n) =>
    item({ id: String(n), since: noon - n * 1_000, decide: [`deposit confirm ${n}`] })
  )

  it("80x24", () => {
    assert.strictEqual(
      frame(begin([aCase, approval, item({}), foreign]), 80, 23),
      `brokerage watch  https://127.0.0.1:8443  12:00:00Z
books    hold        deliveries  3 due, 1 failed
rates    answers 25/s  commits 0.0/s  venue calls 0.0/s  lag 12 ms  feed up
margin   12 accounts, 0 due   0 calls in doubt   close-outs CO-7 ACM-00000001 C…
1 case (3d), 1 approval (1m), 2 deposits (1m)

  WAITS OWNER          COMMAND                      SUBJECT
> 3d    ACM-00000005   kyc clear 5                  SCREENING_HIT
  1m    ACM-00000005   approval grant 9             100.500000 USDC ledger adju…
  1m    ACM-00000005   deposit confirm 7            100.500000 USDC
  1m    ACM-00000005   (deposit confirm 8)          100.500000 USDC

11:59:57Z  PARTNER  deposit.file  depositNotice:3  PENDING
11:59:58Z  PARTNER  deposit.file  depositNotice:4  PENDING
11:59:59Z  PARTNER  deposit.file  depositNotice:5  PENDING
arrows: select   Enter: clear   x: reject   r: refresh   q: quit`
    )
  })

  it("the head has the service's time, and shows if it differs from this machine's", () => {
    const moved = looked(begin([]), { ...lookOf([]), aheadMillis: 25 * 3_600_000 })
    assert.include(frame(moved, 80, 23), "brokerage watch  https://127.0.0.1:8443  2026-11-28 13:00:00Z, 1d ahead\n")
    const behind = looked(begin([]), { ...lookOf([]), aheadMillis: -120_000 })
    assert.include(frame(behind, 80, 23), "11:58:00Z, 2m behind")
    assert.include(frame(looked(begin([]), { ...lookOf([]), aheadMillis: 400 }), 80, 23), "8443  12:00:00Z\n")
  })

  it("a long uid widens the column of every row", () => {
    const shown = frame(begin([item({ clientUid: "SPBPST0X-00000009" }), item({ id: "8" })]), 100, 23)
    const starts = shown.split("\n").flatMap((line) => (/ (deposit confirm|COMMAND) /.test(line) ? [line] : []))
    assert.deepStrictEqual(
      starts.map((line) => line.search(/deposit confirm|COMMAND/)),
      [26, 26, 26]
    )
  })

  it("40x10, the queue alone, with the selection in sight", () => {
    assert.strictEqual(
      frame(typed(begin(many), "G").state, 40, 9),
      `brokerage watch  https://127.0.0.1:8443…
margin   12 accounts, 0 due   0 calls i…
  WAITS COMMAND            SUBJECT (26-…
  25s   deposit confirm 25 100.500000 U…
  26s   deposit confirm 26 100.500000 U…
  27s   deposit confirm 27 100.500000 U…
  28s   deposit confirm 28 100.500000 U…
> 29s   deposit confirm 29 100.500000 U…
arrows: select   Enter: confirm   x: re…`
    )
  })

  it("the action, with a part that does not fit below", () => {
    const { state, wish } = typed(begin([item({})]), named("enter"))
    if (wish?.kind !== "rehearse") throw new Error("nothing was asked for")
    const lines = ["Confirm deposit 7 of ACM-00000005: 100.500000 USDC.", ...many.map((_, n) => `line ${n}`)]
    const shown = frame(typed(rehearsed(state, wish.intent, lines), named("down")).state, 80, 23).split("\n")
    assert.deepStrictEqual(shown.slice(6, 9), [lines[0], "line 1", "line 2"])
    assert.match(shown.at(-2) ?? "", /^\.\.\. \d+ more lines below: arrow down\.$/)
    assert.strictEqual(shown.at(-1), "y: carry it out   n: cancel   arrows: scroll")
  })

  it("an unavailable service and a break in the books are listed first; at any size no line is longer than the screen", () => {
    const away = disconnected(disconnected(begin(many), "The service can not be reached.", noon - 5_000), "x", noon)
    assert.match(frame(away, 80, 23), /^AWAY since 11:59:55Z: x Retrying\./)
    assert.include(frame(away, 80, 23), "1 failed   last data")
    assert.strictEqual(looked(away, lookOf(many)).message, "The service answers again.")
    const { state: looking, wish } = typed(begin([item({})]), named("enter"))
    if (wish?.kind !== "rehearse") throw new Error("nothing was asked for")
    const shown = disconnected(rehearsed(looking, wish.intent, ["x"]), "x", noon)
    assert.isNull(typed(shown, "y").wish)
    assert.notInclude(frame(shown, 80, 23), "do it")
    // Every time is in the reader's zone, or every time is in UTC with its mark.
    const local = frame({ ...begin([]), times: "short" }, 80, 23)
    assert.deepStrictEqual([local.match(/\d\d:\d\d:\d\d/g)?.length, /\d\d:\d\d:\d\dZ/.test(local)], [4, false])
    const wrong = looked(begin([]), lookOf([], 1, 9_000, 5))
    assert.include(frame(wrong, 80, 23), "books    DO NOT HOLD: postings_sum USDC 5")
    for (const state of [away, wrong, typed(begin(many), "x").state, beginWatch("https://x", "utc")]) {
      for (const [columns, rows] of [
        [1, 1],
        [20, 4],
        [40, 9],
        [80, 23],
        [200, 60]
      ] as const) {
        const lines = frame(state, columns, rows).split("\n")
        assert.isAtMost(lines.length, rows)
        for (const line of lines) assert.isAtMost([...line].length, columns)
      }
    }
  })

  it("control characters and wide ones of a text never break a line", () => {
    const odd = item({
      kind: "break",
      about: "a\u001b[2Jb\n張張張張張張張張張張張張張張張張張張",
      decide: ["break close 1"]
    })
    const line = frame(begin([odd]), 80, 23)
      .split("\n")
      .find((each) => each.includes("break close"))
    assert.match(line ?? "", /100\.500000 USDC a\?\[2Jb\?張+…$/u)
  })
})

describe("watch: actions", () => {
  const would = { rows: { approvals: 1 }, events: [], postings: [] }
  const deed = {
    result: { requestId: 4, status: "PAID", destination: { iban: "DE89370400440532013000" }, decisionNote: null },
    would,
    changes: [{ object: "withdrawalRequest:4", action: "withdrawal.pay", before: "APPROVED", after: "PAID" }]
  }
  const asked = { command: "withdrawal pay", args: { requestId: "4", clientUid: "ACM-00000005" }, deed }
  const answered = (data: object, changes: ReadonlyArray<object>) =>
    Promise.resolve({ code: 0, data, dryRun: would, changes })
  const step = (object: string, before: string, after: string) => ({ object, action: "x", before, after })
  const api = {
    partner: { list: () => answered({ partners: [] }, []) },
    operator: { list: () => answered({ operators: [] }, []) },
    approval: {
      show: () => answered({ ...asked, requestedBy: 1, requestedAt: noon, expiresAt: noon }, []),
      grant: () => answered({ approvalId: 9, command: "withdrawal pay", result: deed.result }, deed.changes),
      refuse: () => answered({ approvalId: 9 }, [step("approval:9", "PENDING", "REFUSED")])
    },
    withdrawal: { pay: () => answered({ approvalId: 9, deed }, []) },
    client: { show: () => answered({ kycPackage: null }, []) },
    case: {
      list: () => answered({ cases: [{ caseId: 3, reason: "SCREENING_HIT", openedAt: noon, details: {} }] }, []),
      show: () => answered({ details: {}, entries: [] }, [])
    },
    kyc: {
      clear: () =>
        answered({ clientUid: "ACM-00000005", displayName: "Ada Byron", email: "a@b.example" }, [
          step("case:3", "OPEN", "CLEARED")
        ])
    }
  }
  const call: CallService = (_, use) => use(api as never)
  const shownFor = async (waiting: WaitingRow, ...keys: ReadonlyArray<Key>) => {
    const { wish } = typed(begin([waiting]), ...keys)
    if (wish?.kind !== "rehearse") throw new Error("nothing was asked for")
    const { view } = await rehearse(call, { url: "https://x", operatorKey: "k", ca: null }, wish.intent)
    return render(view, plainScreen).split("\n")
  }
  const behind = { ...payment, decide: approval.decide, command: "approval grant" }

  it("a grant shows the command, its object and the destination of the money; a refusal shows its own effect", async () => {
    const grant = await shownFor(behind, named("enter"))
    assert.strictEqual(grant[0], "Grant approval 9, withdrawal pay 4 of ACM-00000005: 100.500000 USDC.")
    assert.include(grant, "destination  iban DE89370400440532013000")
    assert.include(grant, "Withdrawal request 4: APPROVED -> PAID")
    const refusal = await shownFor(behind, { input: "x" })
    assert.include(refusal, "Approval 9: PENDING -> REFUSED")
    assert.notInclude(refusal.join(), "granted")
    for (const lines of [grant, refusal]) assert.isFalse(lines.some((line) => /^with\b/.test(line)))
    assert.strictEqual((await shownFor(payment, named("enter")))[1], "to iban DE89370400440532013000")
  })

  it("a case is cleared below the client's identity, after its effect is shown", async () => {
    const lines = await shownFor(aCase, named("enter"), named("enter"))
    assert.deepStrictEqual(lines.slice(1, 3), [
      "The client is Ada Byron, a@b.example, ACM-00000005.",
      "Case 3: OPEN -> CLEARED"
    ])
  })

  it("only a refusal is called one", () => {
    assert.strictEqual(errorText(cliFailure(3, 5030, "Away.")), "Error: Away.")
    assert.strictEqual(errorText(cliFailure(1, 4092, "No.")), "Refused: No.")
  })
})

/** A terminal of changeable size that records the drawn text. */
const terminalOf = (columns: number, rows: number) => {
  let drawn = ""
  let isRaw = false
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns, rows })
  const write = stdout.write.bind(stdout)
  // A key that follows a frame before raw mode would be echoed and lost.
  stdout.write = (chunk: string) => {
    if (chunk.includes("ACM-")) assert.isTrue(isRaw, "drawn before raw mode")
    return write(chunk)
  }
  stdout.on("data", (chunk: Buffer) => void (drawn += chunk.toString("utf8")))
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => void (isRaw = raw),
    ref: () => stdin,
    unref: () => stdin
  })
  return {
    stdout: stdout as unknown as NodeJS.WriteStream,
    stdin: stdin as unknown as NodeJS.ReadStream,
    type: (text: string) => stdin.write(text),
    resize: (size: { readonly columns: number; readonly rows: number }) => {
      Object.assign(stdout, size)
      stdout.emit("resize")
    },
    /** Waits until the text that is drawn from now on includes this text. */
    until: async (text: string) => {
      await vi.waitFor(() => assert.include(drawn, text), { timeout: 20_000, interval: 20 })
      drawn = ""
    },
    get drawn() {
      return drawn
    }
  }
}

describe("watch, live", () => {
  it("draws, follows the size, shows that the service is away and back, and ends on q", async () => {
    const terminal = terminalOf(80, 24)
    let answer: () => Look = () => lookOf([item({})])
    // In this test every call is one read of the queue.
    const call = (async () => answer()) as unknown as CallService
    const stopped = new Promise<void>(() => {})
    const connection = { url: "https://127.0.0.1:8443", operatorKey: "k", ca: null }
    const live = watchLive({
      connection,
      call,
      stopped,
      styled: false,
      times: "utc",
      stdin: terminal.stdin,
      stdout: terminal.stdout
    })
    await terminal.until("> 1m    ACM-00000005   deposit confirm 7            100.500000 USDC")
    terminal.resize({ columns: 50, rows: 10 })
    await terminal.until("> 1m    deposit confirm 7  100.500000 USDC")
    answer = () => {
      throw cliFailure(3, 5030, "The service can not be reached. Is it running?")
    }
    terminal.type("r")
    await terminal.until("AWAY since")
    answer = () => lookOf([aCase])
    terminal.type("r")
    await terminal.until("The service answers again.")
    terminal.type("q")
    await live
    assert.notInclude(terminal.drawn, "\u001b[31m")
  })

  it("a service that was never there is not watched", async () => {
    const terminal = terminalOf(80, 24)
    const away = cliFailure(3, 5030, "The service can not be reached. Is it running?")
    const call: CallService = () => Promise.reject(away)
    const connection = { url: "https://127.0.0.1:1", operatorKey: "k", ca: null }
    const stopped = new Promise<void>(() => {})
    const { stdin, stdout } = terminal
    const live = watchLive({ connection, call, stopped, styled: true, times: "utc", stdin, stdout })
    const failure = await live.then(
      () => null,
      (error: unknown) => error
    )
    assert.instanceOf(failure, CliFailure)
    assert.strictEqual(terminal.drawn, "")
  })

  it("lines are exactly those that fit", () =>
    assert.lengthOf(watchLines(begin([]), { columns: 80, rows: 3 }, noon), 3))
})
