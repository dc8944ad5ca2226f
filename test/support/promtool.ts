/** Path of promtool, which checks files of Prometheus: PROMTOOL, or found on the PATH. */
export const promtool: string | undefined = Bun.env['PROMTOOL'] || (Bun.which('promtool') ?? undefined)

/** Runs promtool. Returns its exit status and output. */
export async function runPromtool(args: readonly string[], input = ''): Promise<{ status: number; output: string }> {
  if (promtool === undefined) throw new Error('there is no promtool')
  const child = Bun.spawn([promtool, ...args], { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' })
  const [out, err, status] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { status, output: `${out}${err}` }
}
