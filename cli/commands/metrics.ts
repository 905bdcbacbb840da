/** `brokerage metrics`: the service's own metrics in the Prometheus text format (operator surface). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { findConnection } from "../connection.ts"

export const addMetricsCommand = (program: Command, cli: Cli): void => {
  program
    .command("metrics")
    .description("queues, batches, invariants and deliveries, as Prometheus text")
    .action((_: object, command: Command) =>
      cli.attempt(command, async (globals) => {
        const { callService } = await import("../OperatorClient.ts")
        const metrics = await callService(findConnection(globals, cli.io), (api) => api.metrics.show())
        cli.io.stdout(globals.json === true ? `${JSON.stringify({ metrics })}\n` : metrics)
      })
    )
}
