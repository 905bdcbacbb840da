/**
 * One term for one thing: each option has one placeholder, each filter one meaning, help uses the terms of the
 * glossary, and descriptions of commands state their effect (operator surface, rules for every command).
 */
import { assert, describe, it } from "@effect/vitest"
import type { Command, Option } from "commander"
import { Cli } from "../../cli/Cli.ts"
import { buildProgram } from "../../cli/program.ts"
import { callingsOf, changeLine } from "../../cli/views/changes.ts"
import { recordingIo } from "../operator/operatorHarness.ts"

interface Described {
  readonly path: string
  readonly command: Command
}

const program = await buildProgram(new Cli(recordingIo().io))

const commands = (): ReadonlyArray<Described> => {
  const visit = (command: Command, path: string): ReadonlyArray<Described> => [
    { path, command },
    ...command.commands.flatMap((child) => visit(child, `${path} ${child.name()}`.trim()))
  ]
  return visit(program, "")
}

const all = commands()
const options = all.flatMap(({ path, command }) => command.options.map((option) => ({ path, option })))

/** The placeholder, such as `<n>`; empty for a flag. */
const placeholder = ({ flags }: Option): string => /[<[].*$/.exec(flags)?.[0] ?? ""

/** Options with another meaning in one command. In all other commands each has one placeholder. */
const otherwise: Readonly<Record<string, ReadonlyArray<string>>> = {
  "--reason": ["sim venue execute"],
  "--to": ["sim clock advance", "closeout widen"],
  "--only": ["sim venue price"],
  "--key": ["sim partner listen", "sim partner run"],
  "--scope": ["break open"],
  "--status": ["sim partner listen"],
  "--list": ["screening add", "screening import"]
}

/** The meaning of these options, described in the same words in every command. */
const meanings: Readonly<Record<string, RegExp>> = {
  "--client": /^only of this client: id, uid, reference or e-mail address$/,
  "--partner": /^only of this partner: id or code$/,
  "--limit": /^at most this many, up to \d+$/,
  "--before": /^only rows older than this id$/,
  "--state": /^only in this state$/,
  "--status": /^only in this status$/,
  "--open": /^only open ones$/,
  "--from": /: 2h, 2026-11-01, 2026-11-01T09:30 \(UTC\) or Unix ms$/,
  "--since": /: 2h, 2026-11-01, 2026-11-01T09:30 \(UTC\) or Unix ms$/,
  "--reason": /^[^,]+(;|$)/
}

/** The standard term of the field, and the words that must not be used for it. */
const terms: ReadonlyArray<readonly [term: string, instead: RegExp]> = [
  ["client", /\b(customer|end user|investor|end client)s?\b/i],
  ["partner", /\btenants?\b/i],
  ["market", /\b(instrument|pair)s?\b/i],
  ["order book", /\border ?books\b/i],
  ["e-mail", /(?<!e-)\bmail address|\bemail\b/i],
  ["operator key", /\b(admin|staff) key\b/i],
  ["approval", /\b(sign-?off|four-eyes request)\b/i],
  ["break", /\b(discrepanc|recon break|mismatch)/i],
  ["delivery", /\bcallbacks?\b/i],
  ["close-out", /\b(liquidations?|closeouts?)\b/i],
  ["knock-out contract", /\b(turbos?|barrier contract)\b/i],
  ["staking swap", /\bstaking contract\b/i],
  ["withdrawal", /\bredemptions?\b/i],
  ["audit", /\b(journal|audit log)\b/i],
  ["cancelled", /\bcanceled\b/i],
  ["Unix ms", /\bepoch (ms|millis)|unix milliseconds\b/i]
]

describe("operator surface, one term for one thing", () => {
  it("an option has one placeholder, whichever command it belongs to", () => {
    const found = new Map<string, Map<string, Array<string>>>()
    for (const { path, option } of options) {
      const name = option.long ?? option.flags
      if (otherwise[name]?.includes(path) === true) continue
      const forms = found.get(name) ?? new Map<string, Array<string>>()
      forms.set(placeholder(option), [...(forms.get(placeholder(option)) ?? []), path])
      found.set(name, forms)
    }
    const several = [...found].filter(([, forms]) => forms.size > 1).map(([name, forms]) => [name, [...forms]])
    assert.deepStrictEqual(several, [])
  })

  it.each(Object.entries(meanings))("%s has the same meaning in every command", (long, meaning) => {
    const uses = options.filter(({ path, option }) => option.long === long && otherwise[long]?.includes(path) !== true)
    assert.isNotEmpty(uses)
    for (const { path, option } of uses) assert.match(option.description, meaning, path)
  })

  it.each(terms)("the term is %s", (term, instead) => {
    for (const { path, command } of all) {
      const said = [command.description(), ...command.options.map(({ description }) => description)]
      for (const line of [...said, ...command.registeredArguments.map(({ description }) => description)])
        // The name of a command does not count as a word.
        assert.notMatch(line.replace("closeout widen", ""), instead, `${path}: write ${term}`)
    }
  })

  it("the description of a command is imperative, or names what it shows; it has no full stop at its end", () => {
    for (const { path, command } of all.filter((each) => each.path !== "")) {
      const said = command.description()
      assert.isNotEmpty(said, path)
      assert.notMatch(said, /\.$/, path)
      assert.notMatch(said, /^(makes|saves|proves|shows|lists|prints|runs|sends|adds|takes) /i, path)
      assert.notMatch(said, /^[A-Z][a-z]/, path)
    }
  })

  it.each([
    ["apiKey:7", "Key 7"],
    ["operatorKey:7", "Operator key 7"],
    ["reconBreak:7", "Break 7"],
    ["withdrawalRequest:7", "Withdrawal request 7"],
    ["depositNotice:7", "Deposit notice 7"],
    ["barrierContract:7", "Contract 7"],
    ["closeOut:7", "Close-out 7"],
    ["kycPackage:7", "KYC package 7"],
    ["reliance:2", "Reliance of ACME"],
    ["verificationBlock:5:PEP", "Block PEP of ACME-00000005"]
  ])("a write calls %s by the name of its command: %s", (object, called) => {
    const callings = { partner: () => "ACME", client: { clientId: 5, clientUid: "ACME-00000005" } }
    const line = changeLine({ object, action: "a", before: "X", after: "Y" }, callings)
    assert.strictEqual(String(line), `${called}: X -> Y`)
  })

  it.each([
    ["clock.advance", null, "0 ms ahead", "86400000 ms ahead", "Clock: 2026-11-27 12:00:00Z -> 2026-11-28 12:00:00Z"],
    [
      "market.halt",
      "tradingHalt:9000000000000001",
      null,
      "BTC until 1795862029475",
      "Trading halt: BTC until 2026-11-28 10:33:49.475Z"
    ],
    [
      "kyc.expire",
      "verificationBlock:5:PEP",
      "PEP APPROVED",
      "PEP EXPIRED",
      "Block PEP of ACME-00000005: APPROVED -> EXPIRED"
    ],
    ["partner.cidrs", "partner:2", "any", "10.0.0.0/8", "Networks that ACME may call from: any -> 10.0.0.0/8"],
    ["partner.limits", "partner:2", "read 600", "read 500", "Calls a minute of ACME: read 600 -> read 500"],
    ["approval.request", "approval:7", null, "PENDING", "Approval 7: new, PENDING"],
    ["approval.grant", "approval:7", "PENDING", "GRANTED", "Approval 7: PENDING -> GRANTED"],
    ["settlement.item", "settlementItem:7", null, "PENDING", "Settlement item 7: new, PENDING"],
    ["client.restrict", "client:5", null, "FROZEN", "Client ACME-00000005: FROZEN (client.restrict)"],
    [
      "ledger.adjust",
      "ledgerTransaction:9",
      "1.00 EUR",
      "3.00 EUR",
      "Cash of ACME-00000005: 1.00 EUR -> 3.00 EUR (ledger transaction 9)"
    ]
  ])("%s states the change in the reader's words", (action, object, before, after, said) => {
    const answer = {
      approvalId: 7,
      result: { clientId: 5, clientUid: "ACME-00000005" },
      wallNow: Date.UTC(2026, 10, 27, 12)
    }
    const line = changeLine({ object, action, before, after }, callingsOf(answer, new Map([[2, "ACME"]])))
    assert.strictEqual(String(line), said)
  })
})
