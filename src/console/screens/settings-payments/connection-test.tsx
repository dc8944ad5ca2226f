import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { Button } from '../../ui/button.tsx'
import { Note } from '../../ui/note.tsx'
import { fieldName } from './field-name.ts'
import { t } from './i18n.ts'

type Result = Pick<Schema<'ConnectionTest'>, 'result' | 'fields' | 'message'>

/**
 * A button that tests the connection to a processor and shows the result. Nothing is saved.
 * @param body the typed fields, or only the mode to test the stored ones
 */
export function ConnectionTest({
  processor,
  body,
  disabled = false,
}: {
  processor: Schema<'ProcessorFields'>['processor']
  body: Schema<'ProcessorAccountInput'>
  disabled?: boolean
}) {
  const bodyKey = JSON.stringify(body)
  const [testResult, setTestResult] = useState<{ bodyKey: string; result: Result } | undefined>(undefined)
  const test = async (): Promise<void> => {
    setTestResult(undefined)
    const path = { processor }
    try {
      setTestResult({ bodyKey, result: await ok(api.POST('/shops/v2/processor-accounts/{processor}/test', { params: { path }, body })) })
    } catch (error) {
      if (!(error instanceof ApiError) || error.field === undefined) throw error
      setTestResult({
        bodyKey,
        result: { result: 'REJECTED', fields: error.field.split(', '), message: error.message.replace(/^[^:]*: /, '') },
      })
    }
  }
  return (
    <>
      <Button onPress={test} disabled={disabled} text={t('test')} />
      {/* A result is about the keys that were tested, not about those typed since. */}
      <div class="test-result" role="status">
        {testResult?.bodyKey === bodyKey && <ResultNote result={testResult.result} name={processorName(processor)} />}
      </div>
    </>
  )
}

function ResultNote({ result: { result, fields, message }, name }: { result: Result; name: string }) {
  if (result === 'CONNECTED') return <Note tone="good">{t('testConnected', { name })}</Note>
  if (result === 'NO_ANSWER') return <Note tone="warn">{t('testNoAnswer', { name })}</Note>
  return (
    <Note tone="bad">
      <strong>{t('testRejected')}</strong> {fields.map(fieldName).join(', ')}: <bdi>{message}</bdi>
    </Note>
  )
}
