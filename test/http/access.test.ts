import { expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'

test('a stranger is refused before the body is looked at', async () => {
  await using app = await testApp()
  const answer = await app.call('PATCH', '/shops/v2', { body: { title: 1 } })
  expect(answer.status).toBe(401)
  expect(answer.body).toEqual({ statusCode: 401, message: 'A valid access token is required', error: 'Unauthorized' })
})
