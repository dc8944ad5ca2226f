import type { Config } from '../config.ts'
import { type Instance, openInstance } from '../instance.ts'

/** Runs a command on an instance of its own, beside a server if one runs. Logs warnings and worse only, so that the output stays readable. */
export async function withInstance<T>(config: Config, run: (instance: Instance) => Promise<T>): Promise<T> {
  const instance = await openInstance({ config: quiet(config), as: 'command' })
  try {
    return await run(instance)
  } finally {
    await instance.close()
    instance.flush()
  }
}

const quiet = (config: Config): Config => ({ ...config, logLevel: config.logLevel === 'error' ? 'error' : 'warn' })
