/**
 * Confirmations before a command runs (operator surface, rules for every command): on the terminal itself, whatever
 * stdin and stdout are; their content; and refusals by the service for every caller.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { clearQuestion } from "../../cli/clearQuestion.ts"
import { exitStatus } from "../../cli/CliIo.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"
import { hasTool, skipNote } from "../support/tools.ts"

const { service, heldClient } = await openOperatorScenario({ partner: { code: "ASKS" } })
afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
})

const main = join(import.meta.dirname, "../../cli/main.ts")
const children: Array<ChildProcess> = []

const ranges = ["203.0.113.0/24"]
const allowed = async (): Promise<ReadonlyArray<string>> =>
  (await service.done(["partner", "show", "ASKS"])).allowedCidrs as ReadonlyArray<string>
const open = (how = "--clear") => ["partner", "cidrs", "ASKS", how, ...service.connection("ADMIN")]

describe("operator surface, the terminal that is asked", () => {
  it.each(["--clear", "0.0.0.0/0", "::/0"])("a process without one does nothing and demands --yes: %s", async (how) => {
    await service.done(["partner", "cidrs", "ASKS", ...ranges])
    // A process in a session of its own has no terminal.
    const child = spawn(process.execPath, [main, ...open(how)], { detached: true, stdio: ["ignore", "pipe", "pipe"] })
    children.push(child)
    const ended = await new Promise<readonly [number | null, string]>((resolve) => {
      let stderr = ""
      child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString("utf8")))
      child.once("close", (code) => resolve([code, stderr]))
    })
    assert.deepStrictEqual(ended, [
      exitStatus.usage,
      "error: This command needs a confirmation, and there is no terminal for the question: give --yes. Nothing was done.\n"
    ])
    assert.deepStrictEqual(await allowed(), ranges)
  })

  // The program `script` gives a command a terminal of its own; no other tool here can.
  it.skipIf(!hasTool("script"))(
    `pipes before and behind a command do not take the question away${skipNote("script")}`,
    async () => {
      await service.done(["partner", "cidrs", "ASKS", ...ranges])
      const line = [process.execPath, main, ...open()].map((word) => `'${word}'`).join(" ")
      const answered = async (answer: string): Promise<string> => {
        const child = spawn("script", ["-qec", `${line} </dev/null 2>&1 | cat`, "/dev/null"])
        children.push(child)
        let text = ""
        child.stdout.on("data", (chunk: Buffer) => {
          const before = text.includes("[y/N]")
          text += chunk.toString("utf8")
          if (!before && text.includes("[y/N]")) child.stdin.write(`${answer}\n`)
        })
        await new Promise((resolve) => child.once("close", resolve))
        return text
      }
      // Above the question: the effect of the command. Below it: that nothing was done.
      assert.match(
        await answered("n"),
        /^Networks that ASKS may call from: [^]*It would write:[^]*Let ASKS call from any address\? \[y\/N\] n\s+Nothing was done\.\s*$/
      )
      assert.deepStrictEqual(await allowed(), ranges)
      assert.match(await answered("y"), /any address\? \[y\/N\] y\s[^]*ASKS/)
      assert.deepStrictEqual(await allowed(), [])
    }
  )
})

describe("operator surface, partner cidrs", () => {
  it("without ranges it shows them, without a confirmation; --clear removes them and accepts none", async () => {
    await service.done(["partner", "cidrs", "ASKS", ...ranges])
    const show = ["partner", "cidrs", "ASKS", "--json", ...service.connection("ADMIN")]
    for (const more of [[], ["--dry-run"]]) {
      const shown = await runRecorded([...show, ...more])
      assert.deepStrictEqual([shown.status, shown.json?.allowedCidrs], [exitStatus.done, ranges], shown.stderr)
    }
    assert.strictEqual((await runRecorded([...show, "10.0.0.0/8", "--clear"])).status, exitStatus.usage)
    assert.deepStrictEqual(await allowed(), ranges)
    await service.done(["partner", "cidrs", "ASKS", "--clear"])
  })
})

describe("operator surface, kyc clear over what screening found", () => {
  const stateOf = async (clientId: number) =>
    (await service.done(["client", "show", String(clientId)])).lifecycleState as string

  it("F26: the service wants a note, names the hits and leaves the client held", async () => {
    const { clientId, caseId, entryId } = await heldClient("SANCTIONS")
    const { status, refusal } = await service.cli(["kyc", "clear", String(clientId)], "COMPLIANCE")
    assert.deepStrictEqual([status, refusal.code], [exitStatus.refused, 4092])
    assert.strictEqual(
      refusal.msg,
      "Screening has found this client on a sanctions list: a note must say why it is another person."
    )
    assert.deepStrictEqual(refusal.data, { reason: "NOTE_NEEDED", hits: [{ caseId, entryId, score: 1 }] })
    assert.strictEqual(await stateOf(clientId), "KYC_PENDING")
  })

  it("the confirmation has the hits; no leaves the client held, --yes skips it", async () => {
    const { clientId, caseId, entryId, name, born } = await heldClient("SANCTIONS")
    const line = ["kyc", "clear", String(clientId), "--note", "another person", ...service.connection("COMPLIANCE")]
    const asked: Array<string> = []
    const no = await runRecorded(line, {
      confirm: (question) => {
        asked.push(question)
        return false
      }
    })
    assert.strictEqual(no.status, exitStatus.refused)
    const { clientUid, displayName } = await service.done(["client", "show", String(clientId)])
    assert.deepStrictEqual(asked, [
      `Screening has found client ${clientUid} (${displayName}) on watch lists, or near them:\n  case ${caseId}, entry ${entryId} of OPERATOR (SANCTIONS): ${name}, ${born}, score 1.000\nClear it as another person?`
    ])
    assert.strictEqual(await stateOf(clientId), "KYC_PENDING")
    assert.strictEqual((await runRecorded([...line, "--yes"])).status, exitStatus.done)
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })

  it("two hits in two cases are a line each, with their facts", async () => {
    const details = (entryId: number, list: string) => ({ candidates: [{ entryId, list, score: 0.9, nameScore: 0.9 }] })
    const shown: Readonly<Record<string, object>> = {
      "4": {
        details: details(7, "SANCTIONS"),
        entries: [{ entryId: 7, source: "EU", name: "Ann B", dob: "1970-01-01" }]
      },
      "9": { details: details(8, "PEP"), entries: [] }
    }
    const api = {
      case: {
        show: ({ params }: { readonly params: { readonly caseId: string } }) =>
          Promise.resolve({ code: 0, data: shown[params.caseId] })
      }
    }
    assert.strictEqual(
      await clearQuestion(api as never, "client 5", [4, 9]),
      `Screening has found client 5 on watch lists, or near them:
  case 4, entry 7 of EU (SANCTIONS): Ann B, 1970-01-01, score 0.900
  case 9, entry 8 (PEP): score 0.900
Clear it as another person?`
    )
  })

  it("a possible match wants both, too", async () => {
    const { clientId, caseId, entryId } = await heldClient("PEP")
    const { refusal } = await service.cli(["kyc", "clear", String(clientId)], "COMPLIANCE")
    assert.deepStrictEqual(
      [refusal.msg, refusal.data],
      [
        "Screening has found a possible match of this client: a note must say why it is another person.",
        { reason: "NOTE_NEEDED", hits: [], possibleMatches: [{ caseId, entryId, score: 1 }] }
      ]
    )
    const line = ["kyc", "clear", String(clientId), "--note", "another person", ...service.connection("COMPLIANCE")]
    const unasked = await runRecorded(line, { canPrompt: () => false })
    assert.strictEqual(unasked.status, exitStatus.usage, unasked.stderr)
    const asked: Array<string> = []
    const yes = await runRecorded(line, { confirm: (question) => asked.push(question) > 0 })
    assert.strictEqual(yes.status, exitStatus.done, yes.stderr)
    assert.include(asked.join(), `case ${caseId}, entry ${entryId} of OPERATOR (PEP): `)
    assert.strictEqual(await stateOf(clientId), "ACTIVE")
  })
})
