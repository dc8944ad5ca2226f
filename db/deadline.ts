/**
 * Whether a check of the database holds, and says so in time. One that is late goes on by itself; nobody waits for it.
 * @param ms milliseconds
 */
export async function holdsWithin(ms: number, check: () => Promise<boolean>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([check(), late])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
