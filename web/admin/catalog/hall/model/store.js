// What the editor works on: the plan with its history, what is selected, and the tool in hand.
// Listeners run after every change; a draft is a change that a gesture has not finished.

const STEPS_MAX = 200;

export class Store extends EventTarget {
  constructor(plan) {
    super();
    this.plan = plan;
    this.past = [];
    this.future = [];
    this.saved = plan;
    this.selected = new Set();
    /** Selected seats: section key to a set of `row:place`. */
    this.seats = new Map();
    this.tool = "select";
    this.grade = plan.grades[0] ?? "";
    this.brush = "section";
    this.snaps = true;
    this.showsGrid = true;
  }

  get isDirty() {
    return this.plan !== this.saved;
  }

  /** The sections that are selected, in the order of the plan. */
  get picked() {
    return this.plan.sections.filter(({ key }) => this.selected.has(key));
  }

  get isStagePicked() {
    return this.selected.has("stage") && Boolean(this.plan.stage);
  }

  told(detail = "plan") {
    this.dispatchEvent(new CustomEvent("change", { detail }));
  }

  /** A finished change. `like` joins it with the one before, as the arrows of a held key do. */
  change(plan, like = null) {
    if (plan === this.plan && !this.before) return;
    const before = this.before ?? this.plan;
    this.before = null;
    if (!like || like !== this.like) this.past.push(before);
    if (STEPS_MAX < this.past.length) this.past.shift();
    this.like = like;
    this.future = [];
    this.plan = plan;
    this.told();
  }

  /** Shown, but not part of the history until `change`. */
  draft(plan) {
    this.before ??= this.plan;
    this.plan = plan;
    this.told("draft");
  }

  dropDraft() {
    if (!this.before) return;
    this.plan = this.before;
    this.before = null;
    this.told();
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  step(from, to) {
    this.dropDraft();
    const plan = from.pop();
    if (!plan) return;
    to.push(this.plan);
    this.plan = plan;
    this.like = null;
    const keys = new Set([...plan.sections.map(({ key }) => key), "stage"]);
    this.selected = new Set([...this.selected].filter((key) => keys.has(key)));
    this.seats.clear();
    this.told();
  }

  select(keys) {
    this.selected = new Set(keys);
    this.seats.clear();
    this.like = null;
    this.told("selection");
  }

  selectSeats(seats) {
    this.seats = seats;
    this.told("selection");
  }

  use(tool) {
    this.tool = tool;
    if (tool !== "seats") this.seats.clear();
    this.told("tool");
  }

  set(name, value) {
    this[name] = value;
    this.told("tool");
  }

  /** The plan with some sections replaced: `change(section)` for those selected by default. */
  mapped(change, isMeant = ({ key }) => this.selected.has(key)) {
    const { plan } = this;
    return { ...plan, sections: plan.sections.map((section) => (isMeant(section) ? change(section) : section)) };
  }

  /** The plan with a grade that it may not know yet. */
  withGrade(plan, grade) {
    return !grade || plan.grades.includes(grade) ? plan : { ...plan, grades: [...plan.grades, grade] };
  }
}
