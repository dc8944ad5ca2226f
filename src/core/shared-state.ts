/** What several processes of an instance know together, as it looks from here. `clients/redis.ts` keeps it. */

export type Shared = {
  /** `off`: there is none, and the process is the only one, or goes on by itself. */
  state(): 'off' | 'here' | 'away'
  /**
   * Runs a script (Lua) on these keys, in one step.
   * @returns undefined when nothing came back in time; nobody knows then whether it was done. Never rejects, and never takes long
   */
  run(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Whether nobody else has this name for now; then they have not for so long. Everybody has it while nothing is shared. */
  claim(name: string, ms: number): Promise<boolean>
  /** How often it was not there when it was asked. */
  failures(): number
  close(): void
}

/** For a process by itself. */
export const notShared: Shared = {
  state: () => 'off',
  run: async () => undefined,
  claim: async () => true,
  failures: () => 0,
  close: () => undefined,
}
