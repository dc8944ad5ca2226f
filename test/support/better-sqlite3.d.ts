/** As much of the library as the tests use; it ships no types. */
declare module 'better-sqlite3' {
  export default class BetterSqlite {
    constructor(file: string | undefined, options: { readonly: boolean })
    prepare(statement: string): { get(): unknown; all(): unknown[] }
  }
}
