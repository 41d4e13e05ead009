// Stable hooks for tests from outside: what each `data-testid` marks, and the data attributes beside it.
export const TESTID = {
  /** The text field of the composer. */
  composer: 'composer',
  /** Sends the message. Disabled while there is nothing to send. */
  send: 'send',
  /** Stops the running answer; there only while one runs. */
  stop: 'stop',
  /** Attaches the page beside the panel. */
  attachPage: 'attach-page',
  /** One attached page, selection or paste; in the composer `data-cut="1"` when it was cut. */
  contextChip: 'context-chip',
  /** The list of threads; in the narrow panel only while it is open. */
  threadList: 'thread-list',
  /** One thread: `data-thread-id`, `data-status`, `data-unsaved="1"`. */
  threadItem: 'thread-item',
  newThread: 'new-thread',
  /** Opens the list in the narrow panel. */
  openThreads: 'open-threads',
  /** The menu of the chat on show. */
  openMenu: 'open-menu',
  /** The menu of one entry of the list, or of the folders. */
  itemMenu: 'item-menu',
  /** In the list; the menu of the chat has another way there. */
  openSettings: 'open-settings',
  menuSettings: 'menu-settings',
  /** One message: `data-role` (user assistant notice tool decision), `data-node-id`,
   *  `data-state` (unsaved refused unconfirmed saved | streaming final incomplete interrupted error). */
  message: 'message',
  /** The text of a message, without labels and buttons. */
  messageBody: 'message-body',
  /** The label under an answer: `data-connection` is the kind of its connection. */
  modelLabel: 'model-label',
  /** An interrupted run: `data-run-id`, `data-reason`. */
  recoveryCard: 'recovery-card',
  resume: 'resume',
  keepPartial: 'keep-partial',
  /** Always there: `data-phase` (connecting opening ready refused down), `data-code` the cause, or `connected`. */
  hostStatus: 'host-status',
  retry: 'retry',
  /** There while something is not on the companion's disk: `data-count`. */
  unsavedBadge: 'unsaved-badge',
  branchPrev: 'branch-prev',
  branchNext: 'branch-next',
  /** Text `n/m`. */
  branchPos: 'branch-pos',
  editMessage: 'edit-message',
  regenerate: 'regenerate',
  deleteMessage: 'delete-message',
  forkThread: 'fork-thread',
  copyMessage: 'copy-message',
  toast: 'toast',
  undo: 'undo',
  queued: 'queued',
  /** Runs again through the list of what could not be sent. */
  unconfirmed: 'unconfirmed',
  settings: 'settings',
  connectionItem: 'connection-item',
  threadTitle: 'thread-title',
  shelf: 'shelf',
  /** Narrows the list to a folder or a tag: values `folder:<id>`, `tag:<tag>` or nothing. */
  listFilter: 'list-filter',
  /** More ways to attach, beside the composer's button. */
  attachMenu: 'attach-menu',
  /** The tabs that an `@` may mean, and one of them. */
  tabPicker: 'tab-picker',
  tabOption: 'tab-option',
  /** A capture that waits for a click to ask for permission. */
  accessWanted: 'access-wanted',
  allowAccess: 'allow-access',
  /** In the menu and in its dialog: keeps the page beside the panel. */
  keepPage: 'keep-page',
  keepCopy: 'keep-copy',
  keepPicture: 'keep-picture',
  /** There while a page is being kept: `data-phase` (reading picture waits sending). */
  keeping: 'keeping',
  blockedSites: 'blocked-sites',
  saveBlockedSites: 'save-blocked-sites',
  /** What lies over the panel: `data-kind` (keep organise purge branches folder.save folder.delete attachment page.delete). */
  dialog: 'dialog',
  /** The button of a dialog that does what it asks about. */
  confirm: 'confirm',
  /** In the dialog of a chat: its folder, a new folder's name, a new tag. */
  folderChoice: 'folder-choice',
  newFolder: 'new-folder',
  newTag: 'new-tag',
  tag: 'tag',
  /** One branch of the chat: `data-leaf-id`, `data-active="1"`. */
  branchItem: 'branch-item',
  deleteBranch: 'delete-branch',
  /** Chooses files of one's own; the field behind it. */
  attachFile: 'attach-file',
  fileInput: 'file-input',
  /** A file of the message being written: `data-state` (waiting sending there failed), `data-code` why. */
  draftFile: 'draft-file',
  removeFile: 'remove-file',
  /** What a message names; one of them: `data-state` (unknown picture file gone), `data-attachment-id`. */
  attached: 'attached',
  attachment: 'attachment',
  download: 'download',
  deleteAttachment: 'delete-attachment',
  /** The search: its ways in, its field, its filters, and a hit: `data-kind` (message page title), ids beside. */
  openSearch: 'open-search',
  menuSearch: 'menu-search',
  search: 'search',
  searchField: 'search-field',
  searchWhere: 'search-where',
  searchFilters: 'search-filters',
  searchSite: 'search-site',
  /** `data-state` (idle busy done failed). */
  searchHits: 'search-hits',
  searchHit: 'search-hit',
  /** Kept pages: the list (`data-state` as above), one of it, and what reads it again. */
  openPages: 'open-pages',
  menuPages: 'menu-pages',
  pages: 'pages',
  pageSite: 'page-site',
  pageItems: 'page-items',
  pageItem: 'page-item',
  reader: 'reader',
  /** `data-form` (text copy picture). */
  readerForm: 'reader-form',
  readerText: 'reader-text',
  readerCopy: 'reader-copy',
  openOriginal: 'open-original',
  storageUse: 'storage-use',
  storageWarning: 'storage-warning',
  /** A tool that waits for the browser's permission. */
  toolAccess: 'tool-access',
  allowToolAccess: 'allow-tool-access',
  /** What is asked; `data-tool`, `data-approval-id`. */
  approval: 'approval',
  allowOnce: 'allow-once',
  allowSession: 'allow-session',
  allowSite: 'allow-site',
  declineNote: 'decline-note',
  decline: 'decline',
  cancelTurn: 'cancel-turn',
  /** A question, or a deed that is asked for; `data-kind`. */
  interaction: 'interaction',
  /** A tool's call or result; `data-tool`, `data-state` (called done failed). */
  toolCard: 'tool-card',
  /** Adds what is written to the answer that grows. */
  steer: 'steer',
  /** `data-memory-id`. */
  memory: 'memory',
  addMemory: 'add-memory',
  memoryForm: 'memory-form',
  policy: 'policy',
  /** `data-verdict`. */
  rule: 'rule',
  ruleForm: 'rule-form',
  instructions: 'instructions',
  turnBudget: 'turn-budget',
  saveTurnSettings: 'save-turn-settings',
  sync: 'sync',
  /** `data-missing="1"` where its folder is gone. */
  project: 'project',
  projectPath: 'project-path',
  projectChoice: 'project-choice',
  menuHistory: 'menu-history',
  /** One commit of a chat; `data-turn-id`. */
  commit: 'commit',
  rewind: 'rewind',
  rewindFiles: 'rewind-files',
  /** What would be put back; `data-action` (restore delete). */
  rewindFile: 'rewind-file',
  regenerateWith: 'regenerate-with',
  regenerateModel: 'regenerate-model',
  editQueued: 'edit-queued',
  queuedText: 'queued-text',
  saveQueued: 'save-queued',
  template: 'template',
  /** One step of trying a connection; `data-step`, `data-ok`. */
  verifyStep: 'verify-step',
} as const;
