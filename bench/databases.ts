/** PostgreSQL databases of measurements. */
import pg from 'pg'

/**
 * Runs a function with the URLs of empty databases, and drops them afterwards.
 * @param serverUrl of a user who may create databases
 * @param names end their names
 */
export async function withDatabases(
  serverUrl: string,
  names: readonly string[],
  use: (databaseUrls: string[]) => Promise<void>,
): Promise<void> {
  const databases = names.map((name) => `souk_bench_${process.pid}_${name}`)
  try {
    for (const name of databases) await administer(serverUrl, `CREATE DATABASE ${name}`)
    await use(databases.map((name) => Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href))
  } finally {
    for (const name of databases) await administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  }
}

/** Runs a statement on a new connection. */
export async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
