/** `brokerage document …`: deleting what a partner uploaded (operator surface, Back office; A1-38). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { required } from "../options.ts"
import { fields } from "../views/View.ts"

export const addDocumentCommands = (program: Command, cli: Cli): void => {
  program
    .command("document")
    .description("documents of clients")
    .command("delete")
    .description("delete a document's content for good; its facts stay on file")
    .argument("<DOCUMENTID>", "document id")
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((documentId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.document.delete({ params: { documentId }, payload: { reason } }), fields, {
        confirm: `Delete the content of document ${documentId} for good?`
      })
    )
}
