/** promtool, which checks what Prometheus is to read: PROMTOOL names it, or it is on the PATH. */
export const promtool: string | undefined = Bun.env['PROMTOOL'] || (Bun.which('promtool') ?? undefined)

/** Runs it, and says how it ended and what it said. */
export async function runPromtool(args: readonly string[], input = ''): Promise<{ status: number; output: string }> {
  if (promtool === undefined) throw new Error('there is no promtool')
  const child = Bun.spawn([promtool, ...args], { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' })
  const [out, err, status] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { status, output: `${out}${err}` }
}
