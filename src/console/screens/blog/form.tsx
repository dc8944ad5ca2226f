import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import { pickChanges, withoutNulls } from '../../lib/api/changed-fields.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { moment, timeZone } from '../../lib/format/format.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import type { Versioned } from '../../lib/forms/use-draft.ts'
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
export function BlogForm({ of, resource }: { of?: Versioned<Blog>; resource?: Resource<Versioned<Blog>> }) {
  const { route } = useLocation()
  const zone = timeZone()
  const editor = useRecordEditor(resource, of, (blog: Blog) => textOf(blog, zone), blankBlog)
  const wrong = useSignal(false)
  const sendOnce = useIdempotentSend()
  const { of: field } = editor

  async function save(): Promise<void> {
    const base = editor.base()
    const body = bodyOf(editor.now(), { zone, before: base?.data })
    wrong.value = body === undefined
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
      submit={of ? common('save') : common('create')}
      dirty={editor.dirty}
      label={of ? t('article') : t('add')}
      keepsTyping={of !== undefined}
    >
      <div class="columns">
        <div class="stack">
          <Section title={t('article')}>
            <TextField bind={field.title} label={common('title')} required max={255} />
            <TextAreaField bind={field.excerpt} label={t('excerpt')} hint={t('excerptHint')} rows={3} max={2_000} />
            <HtmlField bind={field.bodyHtml} label={t('body')} hint={t('bodyHint')} rows={16} max={65_536} />
          </Section>
          <Section title={common('preview')}>
            <DelayedPreview of={field.bodyHtml} />
          </Section>
        </div>
        <div class="stack">
          <Section title={t('publishing')}>
            <SelectField
              bind={field.status}
              label={common('status')}
              options={(['DRAFT', 'PUBLISHED'] as const).map((one) => [one, stateName(one)])}
            />
            <TextField
              bind={field.publishedAt}
              label={t('publishedAt')}
              type="datetime-local"
              hint={t('publishedHint', { zone })}
              error={wrong.value ? t('notMoment') : undefined}
            />
            <TextField bind={field.slug} label={t('slug')} hint={t(of ? 'slugChangeHint' : 'slugHint')} max={255} />
            <TextField bind={field.author} label={t('author')} max={255} />
            <TagsField bind={field.tags as Parameters<typeof TagsField>[0]['bind']} label={common('tags')} hint={t('tagsHint')} max={250} />
          </Section>
          <Section title={t('cover')}>
            {field.coverImage.value && (
              <>
                <Picture url={field.coverImage.value} large />
                <div>
                  <Button onPress={() => (field.coverImage.value = '')} text={t('coverRemove')} />
                </div>
              </>
            )}
            <Uploads
              single
              label={field.coverImage.value ? t('coverOther') : t('coverChoose')}
              onDone={({ url }) => (field.coverImage.value = url)}
            />
          </Section>
        </div>
      </div>
    </Form>
  )
}

const previewDelayMs = 300

/** Redraws the preview after a typing pause, because the text can be long. */
function DelayedPreview({ of }: { of: Signal<string> }) {
  const [html, setHtml] = useState(of.value)
  const typed = of.value
  useEffect(() => {
    const waiting = setTimeout(() => setHtml(typed), previewDelayMs)
    return () => clearTimeout(waiting)
  }, [typed])
  return <HtmlPreview html={html} label={t('previewLook')} />
}

const shownMax = 600
const excerpt = (text: string) => (text.length > shownMax ? `${text.slice(0, shownMax)} …` : text)

/** Lists the differing fields of a conflict. */
function differences(mine: Body, theirs: Blog): readonly (readonly [string, string, string])[] {
  const rows = (of: Body): readonly (readonly [string, string])[] => [
    [common('title'), of.title],
    [t('slug'), of.slug ?? theirs.slug],
    [t('excerpt'), of.excerpt ?? '–'],
    [t('body'), of.bodyHtml],
    [t('cover'), of.coverImage ?? '–'],
    [t('author'), of.author ?? '–'],
    [common('tags'), of.tags.join(', ')],
    [common('status'), stateName(of.status)],
    [t('publishedAt'), of.publishedAt ? moment(of.publishedAt) : '–'],
  ]
  return diffRows(rows(mine), rows(theirs)).map(([name, yours, other]) => [name, excerpt(yours), excerpt(other)] as const)
}
