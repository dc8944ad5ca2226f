/** State that the processes of an instance share; `clients/redis.ts` implements it. */

export type SharedState = {
  /** `off`: not configured, or the process works alone. */
  state(): 'off' | 'here' | 'away'
  /**
   * Runs a Lua script atomically. Never rejects.
   * @returns undefined without a response in time; whether the script ran is unknown then
   */
  run(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Reserves a name for `ms` milliseconds; false if another process has it. Always true without shared state. */
  claim(name: string, ms: number): Promise<boolean>
  /** Number of calls that failed. */
  failures(): number
  close(): void
}

/** For a single process. */
export const noSharedState: SharedState = {
  state: () => 'off',
  run: async () => undefined,
  claim: async () => true,
  failures: () => 0,
  close: () => undefined,
}
