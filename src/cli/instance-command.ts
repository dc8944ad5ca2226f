import { databaseFile } from '../../db/open.ts'
import { wasMigrated } from '../../db/postgres/migrate.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { type Instance, openInstance } from '../instance.ts'
import { inspectFile } from './database-file.ts'
import { refuseMoved } from './moved-instance.ts'

/**
 * Runs a command on an instance of its own, beside a server if one runs. Logs warnings and worse only, so that the output stays readable.
 * @throws OperatorError where the instance was moved into PostgreSQL: what is changed here would be in nobody's shop
 */
export async function withInstance<T>(config: Config, run: (instance: Instance) => Promise<T>): Promise<T> {
  refuseMoved(config)
  const instance = await openInstance({ config: quiet(config), as: 'command' })
  try {
    return await run(instance)
  } finally {
    await instance.close()
    instance.flush()
  }
}

/**
 * The same where there is an instance already: a wrong DATA_DIR or DATABASE_URL must not make another one.
 * @throws OperatorError where there is none
 */
export async function withExistingInstance<T>(config: Config, run: (instance: Instance) => Promise<T>): Promise<T> {
  if (config.databaseUrl.startsWith('file:')) inspectFile(databaseFile(config.databaseUrl))
  else if (!(await wasMigrated(config.databaseUrl)))
    throw new OperatorError('The database in DATABASE_URL holds nothing of souk: see that it is the right one')
  return withInstance(config, run)
}

const quiet = (config: Config): Config => ({ ...config, logLevel: config.logLevel === 'error' ? 'error' : 'warn' })
