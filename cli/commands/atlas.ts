/** `brokerage atlas`: a link that opens the atlas of machines in a browser, for two minutes (operator surface, Developers and QA). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { findConnection } from "../connection.ts"
import { stack, text, time, richText } from "../views/View.ts"

export const addAtlasCommand = (program: Command, cli: Cli): void => {
  program
    .command("atlas")
    .description("a link to the page with every machine, the objects in each state, and their history")
    .action((_: object, command: Command) =>
      cli.attempt(command, async (globals) => {
        const { callService } = await import("../OperatorClient.ts")
        const connection = { ...findConnection(globals, cli.io), dryRun: false }
        const { data } = await callService(connection, (api) => api.atlas.link({}))
        const link = { url: new URL(data.path, connection.url).href, expiresAt: data.expiresAt }
        await cli.show(globals, link, ({ url, expiresAt }) =>
          stack(text(url), text(richText`Opens until ${time(expiresAt)}.`))
        )
      })
    )
}
