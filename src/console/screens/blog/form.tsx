import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { pickChanges, withoutNulls } from '../../lib/api/changed-fields.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { moment, timeZone } from '../../lib/format/format.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TagsField, TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { HtmlField } from '../../ui/rich-text/index.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { type Body, blankBlog, bodyOf, textOf } from './blog.domain.ts'
import { t } from './i18n.ts'

type Blog = Schema<'Blog'>

/** Creates or edits an article. */
export function BlogForm({ current, resource }: { current?: Versioned<Blog>; resource?: Resource<Versioned<Blog>> }) {
  const { route } = useLocation()
  const zone = timeZone()
  const editor = useRecordEditor(resource, current, (blog: Blog) => textOf(blog, zone), blankBlog)
  const isMomentInvalid = useSignal(false)
  const sendOnce = useIdempotentSend()
  const { fields } = editor

  async function save(): Promise<void> {
    const base = editor.base()
    const body = bodyOf(editor.values(), { zone, before: base?.data })
    isMomentInvalid.value = body === undefined
    if (!body) throw new Error(t('notMoment'))
    const changes = pickChanges(body, base?.data ?? {})
    const saved = await editor.save({
      save: async (version) =>
        base && Object.keys(changes).length === 0
          ? base
          : sendOnce([changes, version], (header) =>
              base
                ? readVersioned(
                    api.PATCH('/blogs/{id}', {
                      params: { path: { id: base.data.id }, header: { ...header, ...ifMatch(version) } },
                      body: changes,
                    }),
                  )
                : readVersioned(api.POST('/blogs', { params: { header }, body: withoutNulls(body) })),
            ),
      differences: (theirs) => differences(body, theirs),
    })
    if (!saved) return
    // The API removes disallowed HTML.
    notify(changes.bodyHtml === undefined || saved.data.bodyHtml === changes.bodyHtml ? common('saved') : t('cleaned'))
    if (!base) route(shopPath('blog', saved.data.id), true)
  }
  return (
    <Form
      onSubmit={save}
      submit={current ? common('save') : common('create')}
      dirty={editor.isDirty}
      label={current ? t('article') : t('add')}
      isEditableWhileSending={current !== undefined}
    >
      <div class="columns">
        <div class="stack">
          <Section title={t('article')}>
            <TextField bind={fields.title} label={common('title')} required max={255} />
            <TextAreaField bind={fields.excerpt} label={t('excerpt')} hint={t('excerptHint')} rows={3} max={2_000} />
            <HtmlField bind={fields.bodyHtml} label={t('body')} hint={t('bodyHint')} rows={16} max={65_536} />
          </Section>
          <Section title={common('preview')}>
            <DelayedPreview source={fields.bodyHtml} />
          </Section>
        </div>
        <div class="stack">
          <Section title={t('publishing')}>
            <SelectField
              bind={fields.status}
              label={common('status')}
              options={(['DRAFT', 'PUBLISHED'] as const).map((status) => [status, stateName(status)])}
            />
            <TextField
              bind={fields.publishedAt}
              label={t('publishedAt')}
              type="datetime-local"
              hint={t('publishedHint', { zone })}
              error={isMomentInvalid.value ? t('notMoment') : undefined}
            />
            <TextField bind={fields.slug} label={t('slug')} hint={t(current ? 'slugChangeHint' : 'slugHint')} max={255} />
            <TextField bind={fields.author} label={t('author')} max={255} />
            <TagsField
              bind={fields.tags as Parameters<typeof TagsField>[0]['bind']}
              label={common('tags')}
              hint={t('tagsHint')}
              max={250}
            />
          </Section>
          <Section title={t('cover')}>
            {fields.coverImage.value && (
              <>
                <Picture url={fields.coverImage.value} large />
                <div>
                  <Button onPress={() => (fields.coverImage.value = '')} text={t('coverRemove')} />
                </div>
              </>
            )}
            <Uploads
              single
              label={fields.coverImage.value ? t('coverOther') : t('coverChoose')}
              onDone={({ url }) => (fields.coverImage.value = url)}
            />
          </Section>
        </div>
      </div>
    </Form>
  )
}

const previewDelayMs = 300

/** Redraws the preview after a typing pause, because the text can be long. */
function DelayedPreview({ source }: { source: Signal<string> }) {
  const [html, setHtml] = useState(source.value)
  const input = source.value
  useEffect(() => {
    const timer = setTimeout(() => setHtml(input), previewDelayMs)
    return () => clearTimeout(timer)
  }, [input])
  return <HtmlPreview html={html} label={t('previewLook')} />
}

const excerptMax = 600
const excerpt = (text: string) => (text.length > excerptMax ? `${text.slice(0, excerptMax)} …` : text)

/** Lists the differing fields of a conflict. */
function differences(mine: Body, theirs: Blog): readonly (readonly [string, string, string])[] {
  const rows = (values: Body): readonly (readonly [string, string])[] => [
    [common('title'), values.title],
    [t('slug'), values.slug ?? theirs.slug],
    [t('excerpt'), values.excerpt ?? '–'],
    [t('body'), values.bodyHtml],
    [t('cover'), values.coverImage ?? '–'],
    [t('author'), values.author ?? '–'],
    [common('tags'), values.tags.join(', ')],
    [common('status'), stateName(values.status)],
    [t('publishedAt'), values.publishedAt ? moment(values.publishedAt) : '–'],
  ]
  return diffRows(rows(mine), rows(theirs)).map(([name, yours, other]) => [name, excerpt(yours), excerpt(other)] as const)
}
