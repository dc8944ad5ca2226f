import type { ConsoleFile, ConsoleFiles } from '../../../core/console-files.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { ConsoleProviders } from './providers.ts'
import { consoleHtml } from './view.ts'

export type ConsoleDeps = Pick<Deps, 'log' | 'build'> & ConsoleProviders

/** One page per bundle; the identity of the object also caches the ETag. */
const pages = new WeakMap<ConsoleFiles, { readonly body: string; readonly contentType: string }>()

/**
 * Returns the console's page.
 * @throws AppError INTERNAL if the console cannot be built, which is logged
 */
export async function consolePage(deps: ConsoleDeps): Promise<{ readonly body: string; readonly contentType: string }> {
  const files = await openFiles(deps)
  const page = pages.get(files) ?? { body: consoleHtml(files.entry, deps.build.version), contentType: 'text/html;charset=utf-8' }
  pages.set(files, page)
  return page
}

/** Returns a file by name; undefined also for a file of another version. */
export const consoleAsset = async (deps: ConsoleDeps, name: string): Promise<ConsoleFile | undefined> =>
  (await openFiles(deps)).files.get(name)

async function openFiles({ consoleFiles, log }: ConsoleDeps): Promise<ConsoleFiles> {
  try {
    return await consoleFiles.open()
  } catch (error) {
    log.error('console.not_built', { error, advice: 'The console is built from src/console, which must exist and compile' })
    throw new AppError('INTERNAL', 'The console could not be built: see the log')
  }
}
