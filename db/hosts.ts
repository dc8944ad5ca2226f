/** A Postgres URL may name several servers, of which one takes writes: `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE`. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s

/**
 * The same URL once for each of its servers, in their order.
 * @returns nothing where the text is no such URL, or a server has no name
 */
export function serversOf(text: string): string[] {
  const [, before = '', hosts = '', behind = ''] = parts.exec(text) ?? []
  const urls = hosts.split(',').map((host) => `${before}${host}${behind}`)
  return urls.every((url) => Boolean(URL.parse(url)?.hostname)) ? urls : []
}
