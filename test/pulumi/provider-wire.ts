/** The few messages of Pulumi's provider protocol that the dynamic host answers, as plain objects. */
import { createRequire } from 'node:module';
import type { Props } from '../../provider/handler.ts';

/* The SDK ships the generated client as CommonJS, with types that do not cover what is used here. */
const load = createRequire(import.meta.url);

interface Message {
  serializeBinary(): Uint8Array;
}
interface StructMessage extends Message {
  toJavaScript(): Props;
}
interface Request extends Message {
  setId(id: string): void;
  setArgs(struct: StructMessage): void;
  setOlds(struct: StructMessage): void;
  setNews(struct: StructMessage): void;
  setProperties(struct: StructMessage): void;
  setInputs(struct: StructMessage): void;
}
interface Response extends Message {
  getId(): string;
  getProperties(): StructMessage | undefined;
  getInputs(): StructMessage | undefined;
  getFailuresList(): { getProperty(): string; getReason(): string }[];
  getChanges(): number;
  getReplacesList(): string[];
  getDeletebeforereplace(): boolean;
}
type Method = 'configure' | 'check' | 'diff' | 'create' | 'read' | 'update' | 'delete';
type Rpc = (request: Request, callback: (error: Error | null, response: Response) => void) => void;

/** The generated client. */
export type ProviderClient = Record<Method, Rpc> & { close(): void };

const grpc = load('@grpc/grpc-js') as { credentials: { createInsecure(): unknown } };
const { ResourceProviderClient } = load('@pulumi/pulumi/proto/provider_grpc_pb') as {
  ResourceProviderClient: new (address: string, credentials: unknown, options: object) => ProviderClient;
};
const messages = load('@pulumi/pulumi/proto/provider_pb') as Record<string, new () => Request> & {
  ErrorResourceInitFailed: {
    deserializeBinary(bytes: Uint8Array): {
      getId(): string;
      getProperties(): StructMessage;
      getReasonsList(): string[];
    };
  };
};
const { Struct } = load('google-protobuf/google/protobuf/struct_pb') as {
  Struct: { fromJavaScript(value: object): StructMessage };
};
const { Status } = load('@pulumi/pulumi/proto/status_pb') as {
  Status: { deserializeBinary(bytes: Uint8Array): { getDetailsList(): { getValue_asU8(): Uint8Array }[] } };
};

const requests: Readonly<Record<Method, string>> = {
  configure: 'ConfigureRequest',
  check: 'CheckRequest',
  diff: 'DiffRequest',
  create: 'CreateRequest',
  read: 'ReadRequest',
  update: 'UpdateRequest',
  delete: 'DeleteRequest',
};

/** Messages may hold kubeconfigs of many kilobytes, several times over. */
const longestMessage = 400 * 1024 * 1024;

export function connect(address: string): ProviderClient {
  return new ResourceProviderClient(address, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': longestMessage,
    'grpc.max_send_message_length': longestMessage,
  });
}

/** One call; `fields` are the request's, structs as plain objects. */
export async function call(client: ProviderClient, method: Method, fields: Props): Promise<Props> {
  const Message = messages[requests[method]];
  if (Message === undefined) throw new Error(`no message for ${method}`);
  const request = new Message();
  const { id, args, olds, news, properties, inputs } = fields as Record<string, object | undefined>;
  if (typeof id === 'string') request.setId(id);
  if (args) request.setArgs(Struct.fromJavaScript(args));
  if (olds) request.setOlds(Struct.fromJavaScript(olds));
  if (news) request.setNews(Struct.fromJavaScript(news));
  if (properties) request.setProperties(Struct.fromJavaScript(properties));
  if (inputs) request.setInputs(Struct.fromJavaScript(inputs));
  const response = await new Promise<Response>((resolve, reject) => {
    client[method](request, (error, answer) => (error === null ? resolve(answer) : reject(error)));
  });
  return read(method, response);
}

function read(method: Method, response: Response): Props {
  switch (method) {
    case 'check':
      return {
        inputs: response.getInputs()?.toJavaScript() ?? {},
        failures: response.getFailuresList().map((failure) => ({
          property: failure.getProperty(),
          reason: failure.getReason(),
        })),
      };
    case 'diff':
      return {
        changes: (['unknown', 'none', 'some'] as const)[response.getChanges()],
        replaces: response.getReplacesList(),
        deleteBeforeReplace: response.getDeletebeforereplace(),
      };
    case 'create':
      return { id: response.getId(), properties: response.getProperties()?.toJavaScript() ?? {} };
    case 'read':
      return {
        id: response.getId(),
        properties: response.getProperties()?.toJavaScript() ?? {},
        inputs: response.getInputs()?.toJavaScript() ?? {},
      };
    case 'update':
      return { properties: response.getProperties()?.toJavaScript() ?? {} };
    case 'configure':
    case 'delete':
      return {};
  }
}

/** A resource that exists although its operation failed. */
export interface InitFailure {
  readonly id: string;
  readonly properties: Props;
  readonly reasons: readonly string[];
}

/** Reads the partial failure out of an error of {@link call}; undefined for any other. */
export function failureOf(error: unknown): InitFailure | undefined {
  const { metadata } = error as { metadata?: { get(key: string): unknown[] } };
  const bytes = metadata?.get('grpc-status-details-bin')[0];
  if (!(bytes instanceof Uint8Array)) return undefined;
  const detail = Status.deserializeBinary(bytes).getDetailsList()[0];
  if (detail === undefined) return undefined;
  const failure = messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  return {
    id: failure.getId(),
    properties: failure.getProperties().toJavaScript(),
    reasons: failure.getReasonsList(),
  };
}
