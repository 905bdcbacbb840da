/**
 * The operator surface on a real TLS socket over a private database, driven by the command line itself: a test runs the
 * same command lines as an operator.
 */
import { Effect, Exit, Layer, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CliIo } from "../../cli/CliIo.ts"
import { runCli } from "../../cli/runCli.ts"
import { type OperatorRole, operatorRoles } from "../../src/http/api/operator/operatorTokens.ts"
import { directFeatures, partnerFeatures } from "../../src/http/features.ts"
import { HttpServer } from "../../src/http/HttpServer.ts"
import { operatorServices } from "../../src/http/operator/operatorFeatures.ts"
import { makeOperatorApp } from "../../src/http/operator/OperatorServer.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { OperatorKeys } from "../../src/runtime/services/operations/operator/OperatorKeys.ts"
import { stampDatabase } from "../../src/runtime/store/ServiceStamp.ts"
import { operator, startService, type ServiceOptions } from "../support/Service.ts"

export interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  /** The one JSON document on stdout; undefined when there is none. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  /** The envelope on stderr. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly refusal: any
}

/** An io that records the output. */
export const recordingIo = (over: Partial<CliIo> = {}) => {
  const printed = { stdout: "", stderr: "" }
  const io: CliIo = {
    stdout: (text) => void (printed.stdout += text),
    stderr: (text) => void (printed.stderr += text),
    env: {},
    terminal: false,
    size: () => null,
    errorColumns: () => null,
    page: () => Promise.resolve(false),
    progress: null,
    canPrompt: () => true,
    confirm: (question) => {
      throw new Error(`nobody was to be asked: ${question}`)
    },
    stopped: () => new Promise(() => {}),
    serve: () => Promise.reject(new Error("nothing was to be served")),
    ...over
  }
  return { io, printed }
}

/** Runs one command line in this process. */
export const runRecorded = async (args: ReadonlyArray<string>, over: Partial<CliIo> = {}): Promise<Ran> => {
  const { io, printed } = recordingIo(over)
  const status = await runCli(args, io)
  return { status, ...printed, json: documentOf(printed.stdout), refusal: documentOf(printed.stderr) }
}

const documentOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const startOperatorService = async (options: ServiceOptions = {}) => {
  const service = await startService(options)
  const folder = mkdtempSync(join(tmpdir(), "brokerage-operator-"))
  const scope = await service.run(Scope.make())
  const caFile = join(folder, "ca.pem")
  const started = await service.run(
    Effect.gen(function* () {
      yield* stampDatabase(options.settings?.sandbox ?? true, service.database.sealing)
      const services = yield* Layer.build(operatorServices)
      const operatorApp = yield* makeOperatorApp.pipe(Effect.provideContext(services))
      const tls = yield* LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" })
      writeFileSync(caFile, tls.ca)
      const bound = yield* HttpServer.start({
        features: partnerFeatures,
        direct: directFeatures,
        host: "127.0.0.1",
        port: 0,
        tls: { cert: tls.certificate, key: tls.key },
        edgeHosts: [],
        operatorApp
      })
      const keys: Record<string, string> = {}
      const operators = yield* OperatorKeys
      for (const role of operatorRoles)
        keys[role] = (yield* operators.create(operator, { label: `${role} one`, role })).key
      keys.SECOND = (yield* operators.create(operator, { label: "ADMIN two", role: "ADMIN" })).key
      return { url: bound.url, keys: keys as Record<OperatorRole | "SECOND", string> }
    }).pipe(Scope.provide(scope))
  )
  const connection = (role: OperatorRole | "SECOND") => [
    "--url",
    started.url,
    "--operator-key",
    started.keys[role],
    "--ca",
    caFile
  ]
  /** Runs a command with --json, as the ADMIN unless another role is named, without questions. */
  const cli = (line: ReadonlyArray<string>, role: OperatorRole | "SECOND" = "ADMIN"): Promise<Ran> =>
    unsure([...line, "--yes"], role)
  /** As `cli`, without --yes. */
  const unsure = (line: ReadonlyArray<string>, role: OperatorRole | "SECOND" = "ADMIN"): Promise<Ran> =>
    runRecorded([...line, "--json", ...connection(role)])
  /** Like `cli`, and returns its JSON document; throws the refusal. */
  const done = async (line: ReadonlyArray<string>, role: OperatorRole | "SECOND" = "ADMIN") => {
    const ran = await cli(line, role)
    if (ran.status !== 0) throw new Error(`${line.join(" ")}: ${ran.stderr}`)
    return ran.json
  }
  const stop = async () => {
    await service.run(Scope.close(scope, Exit.void))
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { ...service, ...started, caFile, connection, cli, unsure, done, stop }
}
export type OperatorService = Awaited<ReturnType<typeof startOperatorService>>
