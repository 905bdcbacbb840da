/** `brokerage sim reset`: resets a sandbox to its first state (operator surface, Developers and QA; decision 30). */
import type { Command } from "commander"
import { setTimeout as pause } from "node:timers/promises"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus, orElse } from "../CliIo.ts"
import { findConnection } from "../connection.ts"
import type { OperatorClient, Success } from "../OperatorClient.ts"
import { fields, stack, text, time, type View } from "../views/View.ts"

interface Reset {
  readonly resets: number
  readonly resetting: boolean
  readonly since: number
  readonly goes: Readonly<Record<string, number>>
  readonly dryRun?: true
}

/** Timeout of the restart: PostgreSQL and the venue take seconds to start. */
const patienceMillis = 120_000
const pollMillis = 200

export const addSimResetCommand = (sim: Command, cli: Cli): void => {
  sim
    .command("reset")
    .description(
      "delete partners, clients, ledger, the venue's books and advanced time; operator keys stay. The service restarts at its address"
    )
    .action((_: object, command: Command) =>
      cli.attempt(command, async (globals) => {
        const { callService } = await import("../OperatorClient.ts")
        const { data } = await callService({ ...findConnection(globals, cli.io), dryRun: false }, (api) =>
          api.sim.life()
        )
        if (!data.sandbox) throw sandboxOnly
        await cli.call(command, reset, resetView, {
          confirm: "Reset this sandbox? Its content can't be restored.",
          deed: (api) => api.sim.reset().then(({ data }) => resetView(data)),
          failed: ({ resetting, dryRun }) => (resetting && dryRun === undefined ? notYet : null)
        })
      })
    )
}

const sandboxOnly = cliFailure(
  exitStatus.usage,
  4000,
  "Only a sandbox can be reset, and this service is not a sandbox. Nothing was done."
)

const notYet = cliFailure(
  exitStatus.unreachable,
  5030,
  "The reset is requested, but the service has not restarted yet: its next start completes the reset at the latest."
)

/** Requests the reset and waits until the service has restarted. */
const reset = async (api: OperatorClient): Promise<Success<Reset>> => {
  const requested = await api.sim.reset()
  if (requested.data.dryRun === true) return requested
  const isOver = pause(patienceMillis, "over" as const, { ref: false })
  for (;;) {
    // While the service restarts, its answers are failures.
    const life = await Promise.race([orElse(api.sim.life(), null), isOver])
    if (life === "over") return { code: 0, data: requested.data }
    if (life !== null && life.data.resets > requested.data.resets)
      return { code: 0, data: { ...requested.data, ...life.data } }
    await pause(pollMillis)
  }
}

const resetView = ({ resets, since, goes, resetting, dryRun }: Reset): View =>
  dryRun === true
    ? stack(text("A reset would permanently delete:"), fields(goes), text(stays))
    : resetting
      ? text("The sandbox is being reset.")
      : stack(
          fields({ reset: resets, since: time(since) }),
          text(""),
          text("The sandbox is reset. Deleted:"),
          fields(goes),
          text(begunWith)
        )

const stays =
  "The venue's books and advanced time are deleted too. Operator keys, encryption keys, certificates and the options of serve stay."
const begunWith =
  "Operator keys are unchanged; partner keys are deleted. With serve --demo, the terminal of serve shows the new demo; its key is in demo.json of the data directory."
