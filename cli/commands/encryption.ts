/** `brokerage encryption …`: the keys of what is encrypted at rest, by number (architecture, At rest). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { fields, stack, table, text } from "../views/View.ts"

export const addEncryptionCommands = (program: Command, cli: Cli): void => {
  const encryption = program.command("encryption").description("the keys of what is encrypted at rest")
  encryption
    .command("show")
    .description("which key is in use, and how many values each key has sealed")
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (api) => api.encryption.show(),
        ({ current, keys, resealing: { running, remaining } }) =>
          stack(
            fields({ current, "sealing again": running ? "running" : "at rest", remaining }),
            text(""),
            table(keys, { key: (row) => row.number, "sealed values": (row) => row.sealedValues }, "no keys")
          )
      )
    )
  encryption
    .command("rotate")
    .description("add a key and seal everything with it; old keys stay, because backups need them")
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (api) => api.encryption.rotate(),
        (data) =>
          stack(
            fields(data),
            text(
              "Back up encryption.keys now. What older keys sealed is being sealed again: brokerage encryption show."
            )
          ),
        { confirm: "Add an encryption key and seal everything with it? A key is never taken away again." }
      )
    )
}
