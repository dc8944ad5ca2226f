/** Types of the functions that the tests use; the library ships none. */
declare module 'better-sqlite3' {
  export default class BetterSqlite {
    constructor(file: string | undefined, options: { readonly: boolean })
    prepare(statement: string): { get(): unknown; all(): unknown[] }
  }
}
