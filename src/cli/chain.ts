import { NodeError } from '../core/chain.ts'
import { OperatorError } from '../core/errors.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { unknownText } from './suggestion.ts'

/** The file and flags that each subcommand accepts besides --data-dir. */
const subcommands: Readonly<Record<string, { readonly file?: string; readonly flags: readonly string[] }>> = {
  status: { flags: [] },
  sync: { flags: [] },
  resync: { flags: ['chain', 'from'] },
  registry: { flags: [] },
  verify: { flags: ['registry', 'rpc', 'chain', 'contract', 'from', 'to', 'against'] },
  register: { flags: ['chain', 'rpc', 'contract', 'key-file', 'yes', 'dry-run'] },
  attest: { file: 'FILE.json', flags: ['schema', 'chain', 'rpc', 'contract', 'key-file', 'yes', 'dry-run'] },
}

/** `souk chain`: reads chains, shows counts and attests. */
export async function chain(input: Input): Promise<number> {
  const [word = '', file = ''] = input.positionals
  validateInput(word, input)
  try {
    return await run(word, input, file)
  } catch (error) {
    if (error instanceof NodeError) throw new OperatorError(`Node error: ${error.report}`)
    throw error
  }
}

async function run(word: string, input: Input, file: string): Promise<number> {
  switch (word) {
    case 'verify':
      return (await import('./chain-verify.ts')).verify(input)
    case 'register':
      return (await import('./chain-send.ts')).register(input)
    case 'attest':
      return (await import('./chain-send.ts')).attest(input, file)
    default:
      return (await import('./chain-sync.ts')).runOnInstance(word, input)
  }
}

/** @throws UsageError for an unknown subcommand or input that it does not accept */
function validateInput(word: string, { positionals, switches, values }: Input): void {
  const takes = Object.hasOwn(subcommands, word) ? subcommands[word] : undefined
  if (!takes)
    throw new UsageError(`${unknownText('argument', word, Object.keys(subcommands))} Use one of ${Object.keys(subcommands).join(', ')}.`)
  if (positionals.length > 1 !== (takes.file !== undefined))
    throw new UsageError(
      takes.file === undefined
        ? 'Only `souk chain attest` takes a file'
        : `${takes.file} is missing. Run \`souk chain ${word} ${takes.file}\``,
    )
  const foreign = [...values.keys(), ...switches].find((flag) => flag !== 'data-dir' && !takes.flags.includes(flag))
  if (foreign !== undefined) throw new UsageError(`--${foreign} can't be used with \`souk chain ${word}\``)
  if (switches.has('yes') && switches.has('dry-run')) throw new UsageError('--yes and --dry-run exclude each other')
}
