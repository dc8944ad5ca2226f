/** Merchants who apply for loans, and the operator who decides. */
import type { lendingApplications } from '../../db/schema/lending.ts'
import { documentsOf } from '../../src/modules/lending/application/checklist.ts'
import type { KybCohort } from '../../src/modules/shop/kyb/domain.ts'
import { type Answer, type TestApp, type TestAppOptions, testApp } from './app.ts'
import { approveBusiness } from './kyb.ts'
import { ok } from './selling.ts'

type Application = typeof lendingApplications.$inferSelect
type Named = { readonly token: string }

/** Opens an app with lending enabled, an operator, and a merchant with an approved business. */
export async function lendingApp({ cohort = 'US_COMPANY', ...options }: TestAppOptions & { cohort?: KybCohort } = {}) {
  const app = await testApp({ LENDING_PLATFORM_ENABLED: 'true' }, options)
  const operator = await app.superAdmin()
  const merchant = await app.merchant()
  await approveBusiness(app, merchant, operator, { cohort })
  return { app, operator, merchant, [Symbol.asyncDispose]: () => app.close() }
}

export const applicationPath = (id: string, rest = '') => `/lending-application/${id}${rest}`

export const createDraft = async (app: TestApp, { token }: Named, body: object = {}): Promise<Answer['body']> =>
  ok(await app.call('POST', '/lending-application', { token, body }), 201).body

/** Returns the `documentationCompleted` that marks all required documents as uploaded. */
export const uploadedDocuments = (application: Pick<Application, 'cohort' | 'selectedTier1Partner'>) => ({
  items: documentsOf(application).flatMap(({ key, required }) => (required ? [{ key, status: 'UPLOADED' }] : [])),
})

/** Creates a draft with all documents, which can be submitted. */
export async function createCompleteDraft(app: TestApp, merchant: Named, change: object = {}): Promise<Answer['body']> {
  const { id, cohort, selectedTier1Partner } = await createDraft(app, merchant)
  const documentationCompleted = uploadedDocuments({ cohort, selectedTier1Partner, ...change })
  return ok(await app.call('PATCH', applicationPath(id), { token: merchant.token, body: { documentationCompleted, ...change } })).body
}

export const createSubmitted = async (app: TestApp, merchant: Named, change: object = {}): Promise<Answer['body']> =>
  ok(await app.call('POST', applicationPath((await createCompleteDraft(app, merchant, change)).id, '/submit'), { token: merchant.token }))
    .body

export const decide = (app: TestApp, { token }: Named, id: string, decision: string, body: object = {}): Promise<Answer> =>
  app.call('POST', `/admin/lending-application/${id}/decision`, { token, body: { decision, ...body } })

/** Creates an application and moves it to a state. */
export async function createApplicationIn(
  app: TestApp,
  merchant: Named,
  operator: Named,
  status: Application['status'],
): Promise<Answer['body']> {
  if (status === 'DRAFT') return createCompleteDraft(app, merchant)
  const application = await createSubmitted(app, merchant)
  if (status === 'SUBMITTED') return application
  if (status !== 'WITHDRAWN') return ok(await decide(app, operator, application.id, status)).body
  return ok(await app.call('POST', applicationPath(application.id, '/withdraw'), { token: merchant.token })).body
}
