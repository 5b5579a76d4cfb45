package org.apache.kafka.controller;

import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.CreateAclsRequestData;
import org.apache.kafka.common.message.CreateAclsResponseData;
import org.apache.kafka.common.message.DeleteAclsResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.CreateAclsRequest;
import org.apache.kafka.common.requests.DeleteAclsRequest;
import org.apache.kafka.common.requests.DeleteAclsResponse;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;

import java.util.List;
import java.util.stream.Collectors;

/** Requests about ACLs, and the answers of Kafka's request layer to them. */
final class SecurityRequests {
    private SecurityRequests() { }

    static List<AclBinding> bindings(Readable body, short version) {
        return new CreateAclsRequestData(body, version).creations().stream().
            map(CreateAclsRequest::aclBinding).collect(Collectors.toList());
    }

    static ApiMessage created(List<AclCreateResult> results) {
        CreateAclsResponseData told = new CreateAclsResponseData();
        for (AclCreateResult result : results) {
            CreateAclsResponseData.AclCreationResult item = new CreateAclsResponseData.AclCreationResult();
            if (result.exception().isPresent()) {
                ApiException exception = result.exception().get();
                ApiError error = ApiError.fromThrowable(exception);
                item.setErrorCode(error.error().code()).setErrorMessage(error.message());
            }
            told.results().add(item);
        }
        return told;
    }

    static List<AclBindingFilter> filters(Readable body, short version) {
        return DeleteAclsRequest.parse(body, version).filters();
    }

    static ApiMessage deleted(List<AclDeleteResult> results) {
        return new DeleteAclsResponseData().setFilterResults(
            results.stream().map(DeleteAclsResponse::filterResult).collect(Collectors.toList()));
    }
}
