/**
 * Measures the processor time of single commands: user and system time of the process until it ends, with the compile cache that
 * the launcher uses. The launcher is measured apart, as it runs under an older Node: it finds the Node of the packages and waits.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { createPartner, onboardClients } from "../setup.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { startService } from "../service.ts"

export interface CommandPlan {
  readonly dataDirectory: string
  readonly rounds: number
  readonly progress: (line: string) => void
}

/** Processor seconds of one command. */
export interface CommandRow {
  readonly command: string
  readonly seconds: Spread
}

export interface CommandFindings {
  readonly commands: ReadonlyArray<CommandRow>
  /** The launcher's own seconds, without those of the command that it starts. */
  readonly launcher: Spread
}

const root = join(import.meta.dirname, "../..")
const main = join(root, "cli/main.ts")
const launcher = join(root, "bin/brokerage.mjs")
const env = { ...process.env, NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node-compile") }
/** A line that runs before the program, so that the launcher starts the Node of the packages as under Node 20. */
const oldNode = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`

/** Runs the program under this Node. Returns its user and system seconds, those of its child processes included. */
const secondsOf = (args: ReadonlyArray<string>): Promise<number> =>
  new Promise((resolve, reject) => {
    // The shell's `time` reports the times of the process to the ms; Node has no figure of an ended child.
    const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>&1'
    execFile("bash", ["-c", script, "_", process.execPath, ...args], { env }, (error, _, stderr) => {
      const times = stderr.trim().split(" ").map(Number)
      if (error !== null || times.length !== 2) return reject(new Error(`${args.join(" ")}: ${stderr}`))
      resolve(times.reduce((sum, time) => sum + time))
    })
  })

export const measureCommands = async ({ dataDirectory, rounds, progress }: CommandPlan): Promise<CommandFindings> => {
  const service = await startService(dataDirectory)
  try {
    const { clientIds } = await onboardClients(service, await createPartner(service), 20)
    const place = ["--data-dir", dataDirectory]
    const lines: ReadonlyArray<readonly [name: string, words: ReadonlyArray<string>]> = [
      ["queue", ["queue", ...place]],
      ["client show", ["client", "show", String(clientIds[0]), ...place]],
      ["--version", ["--version"]],
      ["--help", ["--help"]],
      ["queue --help", ["queue", "--help"]]
    ]
    const found = new Map<string, Array<number>>(lines.map(([name]) => [name, []]))
    const launched: Array<number> = []
    for (let round = -1; round < rounds; round++) {
      const direct = new Map<string, number>()
      for (const [name, words] of lines) direct.set(name, await secondsOf([main, ...words]))
      const both = await secondsOf(["--import", oldNode, launcher, "queue", "--help"])
      // The first round fills the compile cache.
      if (round < 0) continue
      for (const [name, seconds] of direct) found.get(name)?.push(seconds)
      launched.push(both - (direct.get("queue --help") ?? 0))
    }
    const commands = [...found].map(([command, seconds]) => ({ command, seconds: spreadOf(seconds) }))
    progress(`${commands.length} commands and the launcher run ${rounds} times each`)
    return { commands, launcher: spreadOf(launched) }
  } finally {
    await service.stop()
  }
}
