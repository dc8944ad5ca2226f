import { databaseFile } from '../../db/open.ts'
import { wasMigrated } from '../../db/postgres/migrate.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import type { ShopContext } from '../core/principal.ts'
import { type Instance, openInstance } from '../instance.ts'
import { findShopContextByName, type ShopDeps } from '../modules/shop/shop/index.ts'
import { inspectFile } from './database-file.ts'
import { refuseMoved } from './moved-instance.ts'

/**
 * Runs a command on an instance of its own, also next to a running server. Logs only warnings and errors.
 * @throws OperatorError if the instance was moved to PostgreSQL: changes here would be lost
 */
export async function withInstance<T>(config: Config, run: (instance: Instance) => Promise<T>): Promise<T> {
  refuseMoved(config)
  const instance = await openInstance({ config: reduceLogging(config), as: 'command' })
  try {
    return await run(instance)
  } finally {
    await instance.close()
    instance.flush()
  }
}

/**
 * Does `withInstance` for an existing instance: a wrong DATA_DIR or DATABASE_URL must not create one.
 * @throws OperatorError if there is none
 */
export async function withExistingInstance<T>(config: Config, run: (instance: Instance) => Promise<T>): Promise<T> {
  if (config.databaseUrl.startsWith('file:')) inspectFile(databaseFile(config.databaseUrl))
  else if (!(await wasMigrated(config.databaseUrl)))
    throw new OperatorError('The database in DATABASE_URL has no souk tables: check DATABASE_URL')
  return withInstance(config, run)
}

/** Returns the shop of --shop. @throws OperatorError */
export async function shopNamed(deps: Pick<ShopDeps, 'shopStore'>, name: string): Promise<ShopContext> {
  const shop = await findShopContextByName(deps, name)
  if (!shop) throw new OperatorError('Shop not found. --shop takes the handle of the shop')
  return shop
}

const reduceLogging = (config: Config): Config => ({ ...config, logLevel: config.logLevel === 'error' ? 'error' : 'warn' })
