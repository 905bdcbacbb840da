/**
 * An object that the terminal follows: each step once, a service that disconnects and returns, an object that ends, a
 * reader that stops, a signal (operator surface, machine inspect). The service is behind a gate that the test controls.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { CliIo } from "../../cli/CliIo.ts"
import { runCli } from "../../cli/runCli.ts"
import { onboard, person } from "../support/Builders.ts"
import { type CuttingProxy, openProxy } from "../runtime/engine/cuttingProxy.ts"
import { type OperatorService, recordingIo, startOperatorService } from "./operatorHarness.ts"

const main = join(import.meta.dirname, "../../cli/main.ts")

let service: OperatorService
let gate: CuttingProxy
let key: string
beforeAll(async () => {
  service = await startOperatorService()
  gate = await openProxy(Redacted.make(service.url))
  key = (await service.partner({ code: "FOLLOW" })).key
}, 120_000)
afterAll(async () => {
  await gate.close()
  await service.stop()
})

const waiting = async (number: number): Promise<number> =>
  (await onboard(service, key, person(number, "follow", { "attestation.riskRating": "HIGH" }))).json.data.clientId

const lineOf = (clientId: number): ReadonlyArray<string> => {
  const { protocol, port } = new URL(Redacted.value(gate.url))
  const connection = ["--url", `${protocol}//127.0.0.1:${port}`, "--operator-key", service.keys.SUPPORT]
  return ["machine", "inspect", "client", String(clientId), "--follow", "--json", ...connection, "--ca", service.caFile]
}

/** Runs the command in this process, and records its output. */
const following = (clientId: number, over: Partial<CliIo> = {}) => {
  const told: Array<() => void> = []
  const { io, printed } = recordingIo()
  const noting = (write: (text: string) => void) => (text: string) => {
    write(text)
    for (const look of told.splice(0)) look()
  }
  const ended = runCli([...lineOf(clientId)], { ...io, stdout: noting(io.stdout), stderr: noting(io.stderr), ...over })
  const until = async (isThere: (all: typeof printed) => boolean): Promise<void> => {
    while (!isThere(printed)) await new Promise<void>((look) => told.push(look))
  }
  const events = () =>
    printed.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line).event as string)
  return { ended, until, events, printed }
}

describe("machine inspect --follow", () => {
  it("prints each step once, over an absence of the service, until nothing more can happen", async () => {
    const clientId = await waiting(1)
    const { ended, until, events, printed } = following(clientId)
    await until(() => events().includes("ONBOARD"))
    gate.letIn(false)
    await until(({ stderr }) => stderr.includes("can not be reached"))
    await service.done(["kyc", "clear", String(clientId), "--note", "seen"], "COMPLIANCE")
    gate.letIn(true)
    await until(() => events().includes("COMPLIANCE_APPROVE"))
    await service.done(["client", "close", String(clientId), "--reason", "asked for"])
    assert.strictEqual(await ended, 0)
    assert.deepStrictEqual(
      printed.stderr.split("\n").filter((line) => line !== ""),
      [
        "The service can not be reached; the command retries.",
        "The service answers again.",
        "It is CLOSED: nothing can happen to it any more."
      ]
    )
    assert.deepStrictEqual(events(), ["ONBOARD", "COMPLIANCE_APPROVE", "CLOSE"])
  }, 90_000)

  it("a signal ends it; an unknown object is refused at once", async () => {
    const signal = Promise.withResolvers<void>()
    const { ended, until, events } = following(await waiting(2), { stopped: () => signal.promise })
    await until(() => events().length > 0)
    signal.resolve()
    assert.strictEqual(await ended, 0)
    const nobody = following(999_999)
    assert.strictEqual(await nobody.ended, 1)
    assert.strictEqual(JSON.parse(nobody.printed.stderr).code, 4004)
  }, 90_000)

  it("a reader that closes its end ends it with the next step, without a message", async () => {
    const clientId = await waiting(3)
    const child = spawn(process.execPath, [main, ...lineOf(clientId)], { stdio: ["ignore", "pipe", "pipe"] })
    let said = ""
    child.stderr.on("data", (chunk) => void (said += String(chunk)))
    const exited = once(child, "exit")
    await once(child.stdout, "data")
    child.stdout.destroy()
    await service.done(["kyc", "clear", String(clientId), "--note", "seen"], "COMPLIANCE")
    assert.deepStrictEqual([await exited, said], [[0, null], ""])
  }, 90_000)
})
