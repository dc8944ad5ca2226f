/**
 * Creates a function that sends JSON and returns the parsed response.
 * @param key of the shop; none for public routes
 * @throws Error for a status other than 2xx
 */
export const callerOf =
  (url: string, key?: string) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'x-service-api-key': key }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path.replace(/_\w+/g, '_…')} answered ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
