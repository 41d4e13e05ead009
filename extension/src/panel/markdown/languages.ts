// The languages that are coloured: highlight.js's common set, loaded as one file.
import highlighter from 'highlight.js/lib/common';

export default highlighter;
