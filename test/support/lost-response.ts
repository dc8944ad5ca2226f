import type { ConsoleVisitor } from './console-visitor.ts'

/** In the page: sends the next write to a path and drops its response. */
export const loseNextResponse = (visitor: ConsoleVisitor, path: string) =>
  visitor.page.evaluate(`{
    const before = globalThis.fetch
    let isLost = false
    globalThis.fetch = async (request, ...more) => {
      const answer = await before(request, ...more)
      if (isLost || request.method === 'GET' || !new URL(request.url).pathname.endsWith(${JSON.stringify(path)})) return answer
      isLost = true
      throw new TypeError('lost')
    }
  }`)

/** Reloads the page without an event stream, so that it learns of other people's changes by conflicts. */
export async function reloadWithoutEvents(visitor: ConsoleVisitor): Promise<void> {
  const source = `{
    const before = globalThis.fetch
    globalThis.fetch = (request, ...more) =>
      new URL(request.url ?? request, location.origin).pathname === '/v2/events' ? new Promise(() => {}) : before(request, ...more)
  }`
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source })
  await visitor.reload()
}
