/**
 * The check of scenario files before they are played: unknown events, variables, commands and routes are refused with
 * their lines and near names; every scenario of the service passes (docs/scenarios.md).
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Cli } from "../../cli/Cli.ts"
import { commandCheck } from "../../cli/checkCommand.ts"
import { buildProgram } from "../../cli/program.ts"
import { checkScenario } from "../../simulator/scenarios/runner/checkScenario.ts"
import { allScenarios } from "../../simulator/scenarios/runner/findScenarios.ts"
import { readScenario } from "../../simulator/scenarios/runner/readScenario.ts"
import { eventNames } from "../../src/http/api/webhookEvents.ts"
import { recordingIo } from "../operator/operatorHarness.ts"

const check = commandCheck(await buildProgram(new Cli(recordingIo().io)))

const faults = (text: string): ReadonlyArray<string> => {
  const scenario = readScenario("x.yaml", text)
  if (!("id" in scenario)) throw new Error(JSON.stringify(scenario))
  return checkScenario(scenario, check).map(({ line, sentence }) => `${line}: ${sentence}`)
}
const head = "id: SC-CUS-01\ntitle: x\ngiven:\n  clients: [anna]\nsteps:\n"

describe("scenario files: faults that show before play", () => {
  it.each<readonly [string, string, ReadonlyArray<string>]>([
    [
      "a misspelt event",
      "  - event: deposit.confrimed\n",
      ['6: the service publishes no event "deposit.confrimed"; did you mean "deposit.confirmed"?']
    ],
    [
      "an event of an object that has others",
      "  - event: collateral.reports_received\n",
      [
        '6: the service publishes no event "collateral.reports_received"; it publishes collateral.booked, collateral.refused'
      ]
    ],
    [
      "an event that nothing resembles",
      "  - event: order.filled\n",
      [`6: the service publishes no event "order.filled"; it publishes ${eventNames.join(", ")}`]
    ],
    [
      "a misspelt variable, wherever it stands",
      "  - partner: client $ana\n  - operator: client show $ana\n  - partner: GET /clients/$ana\n  - venue: probe $ana\n",
      [6, 7, 8, 9].map((line) => `${line}: no earlier step sets $ana; did you mean "anna"?`)
    ],
    [
      "variables in bodies, matchers, keys and expectations",
      "  - partner: deposit anna 5\n    body: { a: [$one] }\n    with: { $two: 1 }\n    expect: { data: !has { x: $three } }\n  - event: deposit.confirmed\n    data: { a: $four }\n",
      [
        "6: no earlier step sets $one",
        "6: no earlier step sets $two",
        "6: no earlier step sets $three",
        "10: no earlier step sets $four"
      ]
    ],
    [
      "a variable before the step that sets it, and in that step",
      "  - operator: deposit confirm $notice\n  - partner: deposit anna $notice\n    save: { notice: data.noticeId }\n  - operator: deposit confirm $notice\n",
      ["6: no earlier step sets $notice", "7: no earlier step sets $notice"]
    ],
    [
      "a variable from a step of the same moment",
      "  - together:\n      - partner: onboard ben\n      - partner: client $ben\n    answers: [{}, {}]\n  - partner: client $ben\n",
      ["8: no earlier step sets $ben"]
    ],
    [
      "a variable from a request that a kill cuts off",
      "  - kill: service\n    at: [after-commit]\n    during:\n      - partner: deposit anna 5\n        save: { notice: data.noticeId }\n  - operator: deposit confirm $notice\n",
      ["11: no earlier step sets $notice"]
    ],
    [
      "a member that a client does not have",
      "  - partner: GET /clients/by-ref/$anna.partnerClientref\n  - operator: partner show $partner.code\n",
      ['6: $anna has no member partnerClientref; did you mean "partnerClientRef"?', "7: $partner has no member code"]
    ],
    [
      "a misspelt command, subcommand and option",
      "  - operator: ledgr verify\n  - operator: ledger verfy\n  - operator: ledger verify --fast\n  - venue: pric BTC-USDC-PERP 1\n",
      [
        "6: unknown command 'ledgr' (Did you mean ledger?)",
        "7: unknown command 'verfy' (Did you mean verify?)",
        "8: unknown option '--fast'",
        "9: unknown command 'pric' (Did you mean price?)"
      ]
    ],
    [
      "a command without its argument or option, with one too many, or with a value that it refuses",
      '  - operator: client restrict $anna\n  - operator: client restrict $anna FROZN --reason x\n  - operator: deposit confirm 1 2\n  - operator: ledger\n  - venue: fault outage --times x\n  - operator: client show "anna\n',
      [
        "6: required option '--reason <text>' not specified",
        "7: command-argument value 'FROZN' is invalid for argument 'restriction'. Allowed choices are NO_WITHDRAWALS, FROZEN, NO_NEW_RISK.",
        "8: too many arguments for 'confirm'. Expected 1 argument but got 2: 1, 2.",
        '9: "ledger" is not a whole command',
        "10: option '--times <n>' argument 'x' is invalid. It must be a whole number from 1 to 1000000.",
        "11: a quotation mark is not closed"
      ]
    ],
    [
      "a misspelt route, and a method that a route does not have",
      "  - partner: GET /clients/$anna/postions\n  - partner: DELETE /clients/$anna\n  - operator: GET /partner\n  - partner: GET /nowhere/at/all\n",
      [
        '6: there is no route GET /clients/$anna/postions; did you mean "/clients/$anna/positions"?',
        "7: /clients/$anna has no DELETE: it has GET",
        '8: there is no route GET /partner; did you mean "/partners"?',
        "9: there is no route GET /nowhere/at/all"
      ]
    ]
  ])("%s", (_title, steps, expected) => assert.deepStrictEqual(faults(head + steps), expected))

  it.each([
    ["a route that a scenario expects to be absent", "  - partner: GET /nowhere\n    expect: { status: 404 }\n"],
    [
      "a route that a scenario expects to be refused",
      "  - partner: GET /nowhere\n    expect: { status: 403, code: 4037 }\n"
    ],
    [
      "a command that a scenario expects to be refused as wrong usage",
      "  - operator: ledgr verify\n    expect: { status: 2 }\n"
    ],
    [
      "variables of earlier steps, of partners, of the run and of time; members of saved values; options filled by variables",
      "  - partner: onboard ben\n    save: { row: data }\n  - partner: GET /clients/$row.clientId?at=$now-5m\n  - operator: partner status $partner ACTIVE --reason ${word}$$x\n  - venue: fault outage --times $row.times\n  - event: client.onboarded\n    client: ben\n    data: { a: $ben.clientUid }\n"
    ]
  ])("passes: %s", (_title, steps) => assert.deepStrictEqual(faults(head + steps), []))

  it("docs/scenarios.md lists the events", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/scenarios.md"), "utf8")
    const [, events = ""] = page.split("## Events\n")
    assert.deepStrictEqual(
      [...(events.split("\n## ")[0] ?? "").matchAll(/^- `(.+)`$/gm)].map(([, name]) => name),
      [...eventNames]
    )
  })

  it("every scenario of the service and of its examples passes", () => {
    const folder = join(import.meta.dirname, "../../scripts/examples")
    const examples = readdirSync(folder)
      .filter((name) => name.endsWith(".yaml"))
      .map((name) => readScenario(join(folder, name), readFileSync(join(folder, name), "utf8")))
    const all = [...allScenarios().scenarios, ...examples]
    assert.isAbove(examples.length, 0)
    assert.deepStrictEqual(
      all.flatMap((scenario) =>
        "id" in scenario
          ? checkScenario(scenario, check).map(({ line, sentence }) => `${scenario.file}:${line}: ${sentence}`)
          : [JSON.stringify(scenario)]
      ),
      []
    )
  })
})
