import type { ConsoleFile, ConsoleFiles } from '../../../core/console-files.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { ConsoleProviders } from './providers.ts'
import { consoleHtml } from './view.ts'

export type ConsoleDeps = Pick<Deps, 'log' | 'build'> & ConsoleProviders

/** A page each for what was bundled: by it the page's ETag is remembered. */
const pages = new WeakMap<ConsoleFiles, { readonly body: string; readonly contentType: string }>()

/**
 * The page of the console.
 * @throws AppError INTERNAL where it cannot be made of its sources, which the log then tells
 */
export async function consolePage(deps: ConsoleDeps): Promise<{ readonly body: string; readonly contentType: string }> {
  const files = await opened(deps)
  const page = pages.get(files) ?? { body: consoleHtml(files.entry, deps.build.version), contentType: 'text/html;charset=utf-8' }
  pages.set(files, page)
  return page
}

/** A file of the page by its name; undefined where there is none: also one of another version of the program. */
export const consoleAsset = async (deps: ConsoleDeps, name: string): Promise<ConsoleFile | undefined> =>
  (await opened(deps)).files.get(name)

async function opened({ consoleFiles, log }: ConsoleDeps): Promise<ConsoleFiles> {
  try {
    return await consoleFiles.open()
  } catch (error) {
    log.error('console.not_built', { error, advice: 'the console is made of src/console, which must be there and compile' })
    throw new AppError('INTERNAL', 'The console could not be put together: the log tells why')
  }
}
