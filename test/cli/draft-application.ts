/** Creates a loan application in the database of a real process, and uploads its documents. */
import { documentPath } from '../support/lending-documents.ts'
import { type Server, withFile } from './souk.ts'

/** Writes an approved KYB record and a draft application into the database file. */
export function draftApplication(database: string): string {
  const id = 'loan_01h455vb4pex5vsknk084sn02q'
  withFile(database, (connection) => {
    const user = connection.query<{ id: string }, []>("SELECT id FROM users WHERE role = 'MERCHANT'").get()
    connection.run(
      `INSERT INTO kyb_records (id, merchant_id, status, cohort, legal_name, registration_number, country, owners, created_at, updated_at, version)
       VALUES ('kyb_01h455vb4pex5vsknk084sn02q', ?, 'APPROVED', 'US_COMPANY', 'A', 'B', 'US', '[]', 0, 0, 1)`,
      [user?.id ?? ''],
    )
    connection.run(
      `INSERT INTO lending_applications (id, merchant_id, cohort, tier, status, queued_at, created_by, created_at, updated_at, version)
       VALUES (?, ?, 'US_COMPANY', 'TIER_1_REFERRAL', 'DRAFT', 0, 'x', 0, 0, 1)`,
      [id, user?.id ?? ''],
    )
  })
  return id
}

/** Uploads a document of the application. */
export const uploadDocument = (server: Server, token: string, id: string, key: string, body: Uint8Array, type = 'application/pdf') =>
  fetch(`${server.url}${documentPath(id, key)}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body: new Uint8Array(body),
  })
