/** `brokerage encryption …`: the encryption keys at rest, by number (operator surface). */
import { setTimeout as pause } from "node:timers/promises"
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { exitStatus } from "../CliIo.ts"
import { findConnection } from "../connection.ts"
import { amountLine } from "../progress.ts"
import { fields, stack, table, text, type View } from "../views/View.ts"

interface Shown {
  readonly current: number
  readonly keys: ReadonlyArray<{ readonly number: number; readonly sealedValues: number }>
  readonly resealing: { readonly running: boolean; readonly remaining: number }
}

const keysView = ({ current, keys, resealing: { running, remaining } }: Shown): View =>
  stack(
    fields({ current, "sealing again": running ? "running" : "no", remaining }),
    text(""),
    table(keys, { key: (row) => row.number, "sealed values": (row) => row.sealedValues }, "no keys")
  )

interface Waiting {
  readonly wait?: true
}

const waitOption = ["--wait", "wait until everything is sealed with the new key, and show the progress"] as const
/** Poll interval, ms. Each poll reads all sealed data, so the pause grows with the time that a poll takes. */
const pollMillis = 2_000
const pausePerPoll = 4

export const addEncryptionCommands = (program: Command, cli: Cli): void => {
  const encryption = program.command("encryption").description("the keys that encrypt data at rest")
  encryption
    .command("show")
    .description("the key in use, and the number of values that each key has sealed")
    .option(...waitOption)
    .action(async ({ wait }: Waiting, command: Command) => {
      if (wait === true) await sealedAgain(cli, command)
      if (cli.status === exitStatus.done) await cli.call(command, (api) => api.encryption.show(), keysView)
    })
  encryption
    .command("rotate")
    .description("add a key and seal everything with it; old keys stay, because backups need them")
    .option(...waitOption)
    .action(async ({ wait }: Waiting, command: Command) => {
      await cli.call(
        command,
        (api) => api.encryption.rotate(),
        (data) =>
          stack(
            fields(data),
            text("Back up encryption.keys now."),
            text(
              wait === true
                ? "The values of older keys are being sealed again."
                : "The values of older keys are being sealed again: brokerage encryption show --wait."
            )
          ),
        { confirm: "Add an encryption key and seal everything with it? Keys are never removed." }
      )
      const { dryRun } = command.optsWithGlobals<{ readonly dryRun?: boolean }>()
      if (wait === true && dryRun !== true && cli.status === exitStatus.done) await sealedAgain(cli, command)
    })
}

/** Waits until no data is sealed with an older key. */
const sealedAgain = (cli: Cli, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const { callService } = await import("../OperatorClient.ts")
    const connection = findConnection(globals, cli.io)
    const progress = cli.progressOf(globals)
    const began = Date.now()
    let total: number | null = null
    try {
      for (;;) {
        const polledAt = Date.now()
        const { resealing } = (await callService(connection, (api) => api.encryption.show())).data
        total ??= resealing.remaining
        if (!resealing.running && resealing.remaining === 0) return
        const done = Math.max(0, total - resealing.remaining)
        progress.report(`encryption rotate: ${amountLine({ done, total, unit: "values", millis: Date.now() - began })}`)
        await pause(Math.max(pollMillis, pausePerPoll * (Date.now() - polledAt)))
      }
    } finally {
      progress.end()
    }
  })
