/**
 * The real service: a child process on a data directory, controlled through the command line and plain HTTPS calls. For
 * facts that only a whole process shows: its files, its output, its exit.
 */
import { assert, vi } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { Agent } from "node:https"
import { join } from "node:path"
import { type Exited, type ServiceOptions, startService } from "../crash/ServiceProcess.ts"
import { type Answer, type CallOptions, callServer } from "../http/callServer.ts"
import { type Ran, runRecorded } from "../operator/operatorHarness.ts"

export const startRealService = async (options: ServiceOptions) => {
  const scope = await Effect.runPromise(Scope.make())
  const stop = (): Promise<void> => Effect.runPromise(Scope.close(scope, Exit.void))
  const started = startService(options).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  const process = await Effect.runPromise(started)
  const agent = new Agent({ ca: readFileSync(process.caFile), keepAlive: false })
  /** Runs a command on this data directory with the key of its first ADMIN. */
  const cli = (...line: ReadonlyArray<string>): Promise<Ran> =>
    runRecorded([...line, "--json", "--yes", "--data-dir", options.dataDir])
  /** As `cli`, but returns the JSON document; throws a refusal. */
  const done = async (...line: ReadonlyArray<string>) => {
    const ran = await cli(...line)
    if (ran.status !== 0) throw new Error(`${line.join(" ")}: ${ran.stderr}`)
    return ran.json
  }
  const call = (
    key: string,
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
    more: Pick<CallOptions, "begun"> = {}
  ): Promise<Answer> =>
    callServer(agent, Number(new URL(process.url).port), method, `/partner/v1${path}`, {
      ...more,
      key,
      headers,
      ...(body === undefined ? {} : { body })
    })
  /** A read outside the partner surface. It uses the key of the first ADMIN where the route requires a key. */
  const read = (path: string): Promise<Answer> =>
    callServer(agent, Number(new URL(process.url).port), "GET", path, {
      key: readFileSync(process.operatorKeyFile, "utf8").trim()
    })
  /**
   * Lets the service die or freeze when it next passes the point. The service must have been started with `killAt: {
   * point: "on-signal", times: 1 }`.
   */
  const arm = async (point: string, how: "kill" | "stop"): Promise<void> => {
    const file = join(options.dataDir, "kill-at")
    writeFileSync(file, how === "kill" ? point : `${point} stop`)
    process.signal("SIGUSR2")
    await vi.waitFor(() => assert.isFalse(existsSync(file)), { timeout: 10_000, interval: 5 })
  }
  /** Creates a partner with approved reliance. Returns its TRADE key. */
  const partner = async (code: string): Promise<string> => {
    const firm = ["--name", code, "--legal-name", `${code} AG`, "--country", "DE", "--licence", "MICA_CASP"]
    await done(
      "partner",
      "create",
      "--code",
      code,
      ...firm,
      "--custody",
      "PARTNER",
      "--collateral-asset",
      "EURD",
      "--sandbox"
    )
    await done("partner", "reliance", code, "APPROVED", "--reason", "test")
    return (await done("key", "issue", code, "--label", "test", "--scope", "TRADE")).key as string
  }
  const ended = (): Promise<Exited> => Effect.runPromise(process.exited)
  const kill = (signal: NodeJS.Signals): Promise<Exited> => {
    process.signal(signal)
    return ended()
  }
  return { cli, done, call, read, arm, partner, ended, kill, pid: process.pid, signal: process.signal, stop }
}
export type RealService = Awaited<ReturnType<typeof startRealService>>

/** The data of a successful answer. */
// oxlint-disable-next-line typescript/no-explicit-any
export const dataOf = ({ status, text }: Answer): any => {
  if (status >= 300) throw new Error(text)
  return (JSON.parse(text) as { readonly data: unknown }).data
}
