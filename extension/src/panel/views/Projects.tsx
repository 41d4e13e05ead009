// Folders that chats are bound to: made, and told where they lie now.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Project } from '../../protocol';
import { tell } from '../effects/actions';
import { ask, command, listen, quietly } from '../effects/session';
import { t } from '../i18n';
import { can, link } from '../store';
import { TESTID } from '../testids';

export function useProjects(): readonly Project[] {
  const [projects, setProjects] = useState<readonly Project[]>([]);
  const wanted = link.value.phase === 'ready' && can('project.list');
  useEffect(() => {
    if (!wanted) return undefined;
    const load = (): void => void quietly(async () => setProjects((await ask('project.list', {})).data.projects));
    load();
    return listen((event) => {
      if (event.type === 'store.changed' && event.kind === 'projects') load();
    });
  }, [wanted]);
  return projects;
}

export function Projects(): JSX.Element {
  const projects = useProjects().filter((project) => project.id !== 'default');
  return (
    <>
      <p class="hint">{t('projectsHint')}</p>
      <ul class="connections">
        {projects.map((project) => (
          <li key={project.id} class="connection" data-testid={TESTID.project} data-missing={project.missing ? '1' : undefined}>
            <p class="name">{project.name}</p>
            <p class="hint">{project.path ?? t('projectElsewhere')}</p>
            {(project.missing || project.path === undefined) && (
              <>
                <p class="problem">{t('projectMissing')}</p>
                <FolderForm label={t('relocate')} run={(path) => tell(command('project.relocate', { projectId: project.id, path }))} />
              </>
            )}
          </li>
        ))}
      </ul>
      {can('project.create') && <FolderForm label={t('addProject')} run={(path) => tell(command('project.create', { path }))} />}
    </>
  );
}

function FolderForm({ label, run }: { label: string; run(path: string): Promise<boolean> }): JSX.Element {
  const [path, setPath] = useState('');
  return (
    <form
      class="field-row"
      onSubmit={(event) => {
        event.preventDefault();
        void run(path.trim()).then((done) => done && setPath(''));
      }}
    >
      <input class="rename" data-testid={TESTID.projectPath} value={path} maxLength={4_096} spellcheck={false} autocapitalize="off" aria-label={t('folderPath')} placeholder={t('folderPath')} onInput={(event) => setPath(event.currentTarget.value)} />
      <button type="submit" class="button" disabled={path.trim() === ''}>
        {label}
      </button>
    </form>
  );
}
